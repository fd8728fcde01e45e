package io.minutehand.router;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the router must not know. */
@AnalyzeClasses(packages = "io.minutehand.router", importOptions = DoNotIncludeTests.class)
class RouterBoundariesTest {
    /** Vert.x tells what is wrong with a malformed request in a type of Netty's, and answers unknown versions by itself. */
    @ArchTest
    static final ArchRule shouldReachRedisThroughCoreOnly = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.minutehand.router.http.Refusals")
            .and()
            .doNotHaveFullyQualifiedName("io.minutehand.router.http.KnownVersions")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.redisson..", "io.netty..");

    @ArchTest
    static final ArchRule shouldNotKnowTheWorker =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("io.minutehand.worker..");

    /** Whoever embeds the router gets neither an HTTP server nor a command line. */
    @ArchTest
    static final ArchRule shouldKeepWhatIsOptionalToItsPackages = noClasses()
            .that()
            .resideOutsideOfPackages("io.minutehand.router.http..", "io.minutehand.router.admin..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.vertx..", "picocli..", "io.minutehand.router.http..", "io.minutehand.router.admin..");

    /** Whoever uses the outbox brings a driver and a pool; whoever does not has none. */
    @ArchTest
    static final ArchRule shouldKnowNoDatabaseButThroughJdbc = noClasses()
            .that()
            .resideOutsideOfPackage("io.minutehand.router.outbox..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..", "io.minutehand.router.outbox..");

    @ArchTest
    static final ArchRule shouldNotKnowDrivers =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("org.postgresql..", "com.zaxxer..");

    @ArchTest
    static final ArchRule shouldNotBlockOnMonitors = noClasses()
            .should()
            .callMethod(Object.class, "wait")
            .orShould()
            .callMethod(Object.class, "notify")
            .orShould()
            .callMethod(Object.class, "notifyAll");
}
