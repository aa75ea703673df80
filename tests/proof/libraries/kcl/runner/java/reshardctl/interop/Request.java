package reshardctl.interop;

import java.util.HashMap;
import java.util.Map;

/**
 * What to start. Intervals are milliseconds.
 *
 * @param name of the run, on every line that it prints
 * @param values {@code kinesis} and {@code dynamodb}: base addresses; {@code stream}; {@code
 *     streams}, for an application of several: their identifiers ({@code account:name:epoch}),
 *     parted by commas; {@code table}, also the application's name; {@code worker}; {@code
 *     initial}: {@code LATEST}, {@code TRIM_HORIZON} or {@code AT_TIMESTAMP:<epoch milliseconds>}; {@code
 *     failover}, {@code audit}, {@code idle}, {@code poll}, {@code assign}
 */
public record Request(String name, Map<String, String> values) {

    static Request parse(String[] fields) {
        var values = new HashMap<String, String>();
        for (var i = 2; i < fields.length; i++) {
            var pair = fields[i].split("=", 2);
            values.put(pair[0], pair[1]);
        }
        return new Request(fields[1], Map.copyOf(values));
    }

    public String text(String key) {
        var value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException(name + " has no " + key);
        }
        return value;
    }

    public long number(String key) {
        return Long.parseLong(text(key));
    }
}
