package io.minutehand.orders;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import io.minutehand.source.Executables;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/** The browser of the machine, without a window, led by its driver; both end with {@code quit}. */
final class Browser {
    private Browser() {}

    /** The browser; without one the test is skipped, or fails where CI is set. */
    static ChromeDriver require(int width, int height) throws java.io.IOException {
        Path chromium = found("chromium", List.of("chromium", "chromium-browser", "google-chrome"));
        Path driver = found("chromium-driver", List.of("chromedriver"));
        Path profile = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "chromium-");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.toFile());
        options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--user-data-dir=" + profile.toAbsolutePath(),
                "--window-size=" + width + "," + height);
        return new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(driver.toFile())
                        .usingAnyFreePort()
                        .build(),
                options);
    }

    private static Path found(String aptPackage, List<String> names) {
        for (String name : names) {
            Optional<Path> program = Executables.find(name);
            if (program.isPresent()) {
                return program.get();
            }
        }
        String missing = "none of " + names + " is on the PATH; apt-get install " + aptPackage;
        return System.getenv("CI") == null ? abort(missing) : fail(missing);
    }
}
