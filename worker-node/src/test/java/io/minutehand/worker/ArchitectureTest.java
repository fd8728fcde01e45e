package io.minutehand.worker;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.minutehand.worker", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule REDISSON_IS_FOR_THE_CORE_ONLY =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("org.redisson..", "io.netty..");

    @ArchTest
    static final ArchRule WORKER_DOES_NOT_KNOW_THE_ROUTER =
            noClasses().should().dependOnClassesThat().resideInAPackage("io.minutehand.router..");

    @ArchTest
    static final ArchRule WORKER_BRINGS_NO_LOGGING_BACK_END =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("ch.qos.logback..", "org.apache.logging..");

    @ArchTest
    static final ArchRule ONLY_WEBHOOKS_NEED_AN_HTTP_CLIENT = noClasses()
            .that()
            .resideOutsideOfPackage("io.minutehand.worker.webhook..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.vertx..", "io.github.resilience4j..");

    @ArchTest
    static final ArchRule ONLY_THE_SERVICE_HAS_OPTIONS = noClasses()
            .that()
            .resideOutsideOfPackage("io.minutehand.worker.service..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("picocli..", "io.minutehand.worker.service..");

    @ArchTest
    static final ArchRule NODES_DO_NOT_KNOW_WEBHOOKS = noClasses()
            .that()
            .resideInAPackage("io.minutehand.worker")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.minutehand.worker.webhook..");

    /** Whoever needs a database brings a driver and a pool; whoever does not has none. */
    @ArchTest
    static final ArchRule NODES_DO_NOT_KNOW_DATABASES = noClasses()
            .that()
            .resideInAPackage("io.minutehand.worker")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "java.sql..", "javax.sql..", "io.minutehand.worker.jdbc..", "io.minutehand.worker.reconcile..");

    @ArchTest
    static final ArchRule NOBODY_KNOWS_DRIVERS =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("org.postgresql..", "com.zaxxer..");

    @ArchTest
    static final ArchRule CLASSES_ARE_FINAL = classes()
            .that()
            .areTopLevelClasses()
            .and()
            .areNotInterfaces()
            .and()
            .haveSimpleNameNotStartingWith("package")
            .should()
            .haveModifier(JavaModifier.FINAL);
}
