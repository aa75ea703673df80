package reshardctl.interop.worker;

import reshardctl.interop.Request;
import software.amazon.kinesis.leases.LeaseManagementConfig;

/** What release 2.3 brought: an auditor. */
final class Release {
    private Release() {}

    static LeaseManagementConfig leases(LeaseManagementConfig stock, Request request) {
        return stock.leasesRecoveryAuditorExecutionFrequencyMillis(request.number("audit"));
    }
}
