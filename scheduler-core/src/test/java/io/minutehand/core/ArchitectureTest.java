package io.minutehand.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.minutehand.core", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule SHOULD_KNOW_REDISSON_IN_THE_STORE_ONLY = noClasses()
            .that()
            .resideOutsideOfPackage("io.minutehand.core.store")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.redisson..", "io.netty..");

    @ArchTest
    static final ArchRule SHOULD_HAVE_NO_CYCLES =
            slices().matching("io.minutehand.core.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule SHOULD_NOT_KNOW_WHO_USES_IT = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.minutehand.router..",
                    "io.minutehand.worker..",
                    "io.minutehand.loadtest..",
                    "io.minutehand.testkit..",
                    "io.minutehand.redis..");

    @ArchTest
    static final ArchRule SHOULD_KNOW_MICROMETER_IN_FEW_CLASSES_AS_IT_IS_OPTIONAL = noClasses()
            .that()
            .doNotHaveSimpleName("MicrometerTelemetry")
            .and()
            .doNotHaveSimpleName("PrometheusMetrics")
            .and()
            .doNotHaveSimpleName("CounterKey")
            .and()
            .doNotHaveSimpleName("AdminService")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.micrometer..");

    @ArchTest
    static final ArchRule SHOULD_KNOW_OPENTELEMETRY_IN_ONE_CLASS_AS_IT_IS_OPTIONAL = noClasses()
            .that()
            .haveNameNotMatching(".*\\.OpenTelemetryTraces(\\$.*)?")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.opentelemetry..");

    @ArchTest
    static final ArchRule SHOULD_USE_JOBS_WITHOUT_A_STORE = noClasses()
            .that()
            .resideInAnyPackage("io.minutehand.core.job..", "io.minutehand.core.bucket..", "io.minutehand.core.topic..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.minutehand.core.store..", "io.minutehand.core.write..");

    @ArchTest
    static final ArchRule SHOULD_HAVE_NO_CLASSES_THAT_ARE_MADE_TO_BE_EXTENDED = classes()
            .that()
            .areTopLevelClasses()
            .and()
            .areNotInterfaces()
            .and()
            .areNotAnnotations()
            .should()
            .haveModifier(com.tngtech.archunit.core.domain.JavaModifier.FINAL);
}
