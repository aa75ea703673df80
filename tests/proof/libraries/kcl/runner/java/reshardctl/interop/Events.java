package reshardctl.interop;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Prints what happens, one JSON object a line: {@code run}, {@code at} (epoch milliseconds),
 * {@code event}, and the event's own members, all strings.
 *
 * <ul>
 *   <li>READY the process takes requests
 *   <li>STARTED, STOPPED (was asked to), DIED (was not)
 *   <li>BEGUN its initialization is over: the table is there, and synchronised where that is due
 *   <li>INIT {@code shard position}: the library has its iterator and hands the shard over
 *   <li>RECORD {@code shard payload number}
 *   <li>SHARD_END, LEASE_LOST {@code shard}
 *   <li>AUDIT {@code text}: one look of the leader at the hash ranges
 *   <li>CREATED {@code text}: a shard sync created leases
 *   <li>LOG {@code level logger text}: the library's own words, each kind a few times at most
 * </ul>
 *
 * <p>A shard of another stream than the request's own has that stream's identifier and a colon
 * before its id.
 */
public final class Events {
    private static final PrintStream OUT =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private Events() {}

    /** Prints one event; {@code members} are names and values in turn. */
    public static void say(String run, String event, String... members) {
        var line = new StringBuilder("{\"run\":").append(quoted(run));
        line.append(",\"at\":").append(System.currentTimeMillis());
        line.append(",\"event\":").append(quoted(event));
        for (var i = 0; i < members.length; i += 2) {
            line.append(',').append(quoted(members[i])).append(':').append(quoted(members[i + 1]));
        }
        synchronized (OUT) {
            OUT.println(line.append('}'));
        }
    }

    private static String quoted(String text) {
        var result = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                result.append('\\').append((char) c);
            } else if (c < ' ') {
                result.append(String.format("\\u%04x", c));
            } else {
                result.append((char) c);
            }
        });
        return result.append('"').toString();
    }
}
