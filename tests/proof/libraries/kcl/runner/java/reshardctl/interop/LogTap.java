package reshardctl.interop;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/** Turns what the library logs into AUDIT and LOG events of the application that logged it. */
final class LogTap extends AppenderBase<ILoggingEvent> {
    private static final List<String> LIBRARIES = List.of(
            "software.amazon.kinesis",
            "com.amazonaws.services.kinesis.clientlibrary",
            "com.amazonaws.services.kinesis.leases");

    /** Releases 1, and 2 before 2.3, say how many leases they create here alone, below INFO. */
    private static final List<String> SYNCERS = List.of(
            "com.amazonaws.services.kinesis.clientlibrary.lib.worker.KinesisShardSyncer",
            "software.amazon.kinesis.leases.HierarchicalShardSyncer");

    private static final int EACH_AT_MOST = 3;
    private static final int LONGEST = 600;

    /**
     * How the line of each audit begins, whatever it decided ((Kinesis)PeriodicShardSyncManager).
     * In releases 2 and 3 it is the last line of the audit; in 1.15 a sync that it starts follows.
     */
    private static final List<String> AUDITS = List.of(
            "Skipping shard sync for",
            "Skipping shard sync due to the reason",
            "Periodic shard syncer initiating shard sync",
            "Submitted shard sync task for",
            "Failed to submit shard sync task",
            "Caught exception while running periodic shard syncer");

    /** What else is worth a line below WARN. */
    private static final List<String> OF_INTEREST = List.of(
            "Number of new leases to create",
            "Num new leases to create",
            "Created child shard lease",
            "Deleting lease for shard",
            "No lease found for shard",
            "is blocked on parent",
            "Not blocking on completion",
            "is not a leader",
            "is leader");

    /** Logged by each shard sync with the number of leases that it creates, 0 included. */
    private static final Pattern CREATED =
            Pattern.compile("(Newly created leases |Num new leases to create: )[1-9]");

    /** Logged by the worker of every release when its attempts to initialize are over. */
    private static final String BEGUN = "Initialization complete. Starting worker loop.";

    private final Map<String, Integer> said = new ConcurrentHashMap<>();

    static void install() {
        var context = (LoggerContext) LoggerFactory.getILoggerFactory();
        var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.setLevel(Level.ERROR);
        LIBRARIES.forEach(library -> context.getLogger(library).setLevel(Level.INFO));
        SYNCERS.forEach(syncer -> context.getLogger(syncer).setLevel(Level.DEBUG));
        var tap = new LogTap();
        tap.setContext(context);
        tap.start();
        root.addAppender(tap);
    }

    @Override
    protected void append(ILoggingEvent event) {
        var run = Thread.currentThread().getThreadGroup().getName();
        var text = text(event);
        if (text.equals(BEGUN)) {
            Events.say(run, "BEGUN");
        } else if (AUDITS.stream().anyMatch(text::startsWith)) {
            Events.say(run, "AUDIT", "text", text);
        } else if (CREATED.matcher(text).find()) {
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
