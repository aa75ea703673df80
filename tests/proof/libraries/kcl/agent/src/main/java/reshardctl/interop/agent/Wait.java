package reshardctl.interop.agent;

import java.util.List;

/**
 * One hard-coded wait: the long constant that a method of the library loads.
 *
 * <p>The compiler inlines {@code static final} longs, so a wait sits in the method that uses it and
 * the field itself is never read.
 *
 * @param type internal name of the class
 * @param method the only method of it that is touched
 * @param stock the constant as released, milliseconds
 * @param property the system property that holds the constant wanted instead, milliseconds
 */
record Wait(String type, String method, long stock, String property) {

    /** The waits that make a restart take minutes and that no setting reaches: two a release. */
    static final List<Wait> ALL = List.of(
            // PeriodicShardSyncManager.INITIAL_DELAY: nothing is audited for a minute.
            new Wait(
                    "software/amazon/kinesis/coordinator/PeriodicShardSyncManager",
                    "start",
                    60_000,
                    "reshardctl.firstAudit"),
            // Scheduler.MAX_WAIT_TIME_FOR_LEASE_TABLE_CHECK_MILLIS: the most that an empty table is
            // looked at before it is filled. The least, 1,000, stays; so must this be above it.
            new Wait(
                    "software/amazon/kinesis/coordinator/Scheduler",
                    "shouldInitiateLeaseSync",
                    30_000,
                    "reshardctl.emptyTable"),
            // The same wait in 1.14 and 1.15, where it is the value of a static field. These audit
            // from the first moment: there is nothing else to shorten. 1.13 and 2.2 have neither.
            new Wait(
                    "com/amazonaws/services/kinesis/clientlibrary/lib/worker/Worker",
                    "<clinit>",
                    30_000,
                    "reshardctl.emptyTable"));

    /** The constant wanted. */
    long wanted() {
        return Long.getLong(property);
    }

    /** Whether this run wants it shortened: releases that have no such wait do not. */
    boolean asked() {
        return System.getProperty(property) != null;
    }

    @Override
    public String toString() {
        return type.replace('/', '.') + "." + method + ": " + stock + " -> " + wanted();
    }
}
