package reshardctl.interop;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.LoggerFactory;

/** Turns what the library logs into AUDIT and LOG events of the application that logged it. */
final class LogTap extends AppenderBase<ILoggingEvent> {
    private static final String LIBRARY = "software.amazon.kinesis";
    private static final int EACH_AT_MOST = 3;
    private static final int LONGEST = 600;

    /** How the last line of each audit begins, whatever it decided (PeriodicShardSyncManager). */
    private static final List<String> AUDITS = List.of(
            "Skipping shard sync for",
            "Submitted shard sync task for",
            "Failed to submit shard sync task",
            "Caught exception while running periodic shard syncer");

    /** What else is worth a line below WARN. */
    private static final List<String> OF_INTEREST = List.of(
            "Number of new leases to create",
            "No lease found for shard",
            "is blocked on parent",
            "Not blocking on completion",
            "is not a leader",
            "is leader");

    /** Logged by each shard sync that created something, and by each that did not, as "0:". */
    private static final String CREATED = "Newly created leases ";

    private final Map<String, Integer> said = new ConcurrentHashMap<>();

    static void install() {
        var context = (LoggerContext) LoggerFactory.getILoggerFactory();
        var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.setLevel(Level.ERROR);
        context.getLogger(LIBRARY).setLevel(Level.INFO);
        var tap = new LogTap();
        tap.setContext(context);
        tap.start();
        root.addAppender(tap);
    }

    @Override
    protected void append(ILoggingEvent event) {
        var run = Thread.currentThread().getThreadGroup().getName();
        var text = text(event);
        if (AUDITS.stream().anyMatch(text::startsWith)) {
            Events.say(run, "AUDIT", "text", text);
        } else if (text.contains(CREATED) && !text.contains(CREATED + "0:")) {
            Events.say(run, "CREATED", "text", text);
        } else if (wanted(event, text) && unsaid(run, event)) {
            var level = event.getLevel().toString();
            Events.say(run, "LOG", "level", level, "logger", event.getLoggerName(), "text", text);
        }
    }

    private static boolean wanted(ILoggingEvent event, String text) {
        return event.getLevel().isGreaterOrEqual(Level.WARN)
                || OF_INTEREST.stream().anyMatch(text::contains);
    }

    private boolean unsaid(String run, ILoggingEvent event) {
        var cause = event.getThrowableProxy();
        var kind = run + event.getMessage() + (cause == null ? "" : cause.getClassName());
        return said.merge(kind, 1, Integer::sum) <= EACH_AT_MOST;
    }

    private static String text(ILoggingEvent event) {
        var text = new StringBuilder(event.getFormattedMessage());
        for (var cause = event.getThrowableProxy(); cause != null; cause = cause.getCause()) {
            text.append(" | ").append(cause.getClassName()).append(": ").append(cause.getMessage());
        }
        return text.length() > LONGEST ? text.substring(0, LONGEST) : text.toString();
    }
}
