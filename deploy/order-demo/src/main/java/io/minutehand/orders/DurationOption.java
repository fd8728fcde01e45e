package io.minutehand.orders;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A duration as an option: {@code 20s}, {@code 500ms}, {@code 2m}; a bare number is seconds. */
final class DurationOption implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,7})(ms|s|m|)");

    @Override
    public Duration convert(String value) {
        Matcher matcher = FORM.matcher(value);
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + value + "' is not a duration; give one such as 20s, 500ms or 2m");
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "m" -> Duration.ofMinutes(number);
            default -> Duration.ofSeconds(number);
        };
    }
}
