package io.minutehand.router;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the router must not know. */
@AnalyzeClasses(packages = "io.minutehand.router", importOptions = DoNotIncludeTests.class)
class RouterBoundariesTest {
    @ArchTest
    static final ArchRule shouldReachRedisThroughCoreOnly =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("org.redisson..", "io.netty..");

    @ArchTest
    static final ArchRule shouldNotKnowTheWorker =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("io.minutehand.worker..");

    @ArchTest
    static final ArchRule shouldNotBlockOnMonitors = noClasses()
            .should()
            .callMethod(Object.class, "wait")
            .orShould()
            .callMethod(Object.class, "notify")
            .orShould()
            .callMethod(Object.class, "notifyAll");
}
