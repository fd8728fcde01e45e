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
