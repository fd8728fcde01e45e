package io.minutehand.loadtest;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Instant;
import java.util.Date;

/** Who may know whom. It stands here because only this module sees all others. */
@AnalyzeClasses(packages = "io.minutehand", importOptions = DoNotIncludeTests.class)
class ModuleBoundariesTest {
    /** And what it is measured against. */
    @ArchTest
    static final ArchRule ONLY_THE_STORE_KNOWS_REDISSON = noClasses()
            .that()
            .resideOutsideOfPackages("io.minutehand.core.store..", "io.minutehand.loadtest.baseline..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.redisson..");

    @ArchTest
    static final ArchRule ROUTER_DOES_NOT_KNOW_WORKER = noClasses()
            .that()
            .resideInAPackage("io.minutehand.router..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.minutehand.worker..");

    @ArchTest
    static final ArchRule WORKER_DOES_NOT_KNOW_ROUTER = noClasses()
            .that()
            .resideInAPackage("io.minutehand.worker..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.minutehand.router..");

    @ArchTest
    static final ArchRule CORE_KNOWS_NONE_OF_ITS_USERS = noClasses()
            .that()
            .resideInAPackage("io.minutehand.core..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.minutehand.router..",
                    "io.minutehand.worker..",
                    "io.minutehand.loadtest..",
                    "io.minutehand.redis..",
                    "io.minutehand.source..",
                    "io.minutehand.postgres..",
                    "io.minutehand.testkit..");

    @ArchTest
    static final ArchRule THE_PRODUCT_STARTS_NO_SERVERS_AND_BRINGS_NO_LOGGER = noClasses()
            .that()
            .resideInAnyPackage("io.minutehand.core..", "io.minutehand.router..", "io.minutehand.worker..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.minutehand.redis..",
                    "io.minutehand.source..",
                    "io.minutehand.postgres..",
                    "io.minutehand.loadtest..",
                    "ch.qos.logback..");

    @ArchTest
    static final ArchRule ONLY_COMMANDS_KNOW_PICOCLI_AS_IT_IS_OPTIONAL = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "io.minutehand.core.command..",
                    "io.minutehand.router.admin..",
                    "io.minutehand.router.http..",
                    "io.minutehand.worker.service..",
                    "io.minutehand.loadtest..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "picocli..",
                    "io.minutehand.core.command..",
                    "io.minutehand.router.admin..",
                    "io.minutehand.router.http..",
                    "io.minutehand.worker.service..");

    @ArchTest
    static final ArchRule ONLY_THE_HTTP_ROUTER_AND_WEBHOOKS_KNOW_VERTX_AS_IT_IS_OPTIONAL = noClasses()
            .that()
            .resideOutsideOfPackages("io.minutehand.router.http..", "io.minutehand.worker.webhook..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.vertx..");

    /** These tell a caller what it gets when no server answered, how far ahead a time may lie at all, or whether its key has expired. */
    @ArchTest
    static final ArchRule TIME_IS_THE_SERVERS_NOT_THIS_MACHINES = noClasses()
            .that()
            .resideInAnyPackage("io.minutehand.core..", "io.minutehand.router..", "io.minutehand.worker..")
            .and()
            .doNotHaveSimpleName("ServerClock")
            .and()
            .doNotHaveSimpleName("BulkSchedule")
            .and()
            .doNotHaveSimpleName("WaitingJob")
            .and()
            .doNotHaveSimpleName("When")
            .and()
            .doNotHaveSimpleName("Again")
            .and()
            .doNotHaveSimpleName("ApiKeys")
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(Instant.class, "now")
            .orShould()
            .dependOnClassesThat()
            .belongToAnyOf(Clock.class, Date.class);

    @ArchTest
    static final ArchRule THE_CHECKER_JUDGES_BY_FILES_ALONE = noClasses()
            .that()
            .resideInAnyPackage("io.minutehand.loadtest.ledger..", "io.minutehand.loadtest.check..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.minutehand.core..", "io.minutehand.router..", "io.minutehand.worker..");
}
