package reshardctl.interop.worker;

import reshardctl.interop.Request;
import software.amazon.kinesis.leases.LeaseManagementConfig;

/**
 * What release 3 alone has: a leader that assigns leases by what workers report of themselves.
 *
 * <p>The leader lock keeps its stock 120 s and its heartbeat of 30 s: a case shows that wait.
 */
final class Release {
    private Release() {}

    static LeaseManagementConfig leases(LeaseManagementConfig stock, Request request) {
        var assign = request.number("assign");
        stock.leasesRecoveryAuditorExecutionFrequencyMillis(request.number("audit"));
        stock.leaseAssignmentIntervalMillis(assign);
        stock.workerUtilizationAwareAssignmentConfig().workerMetricsReporterFreqInMillis(assign);
        return stock;
    }
}
