package reshardctl.interop.worker;

import reshardctl.interop.Request;
import software.amazon.kinesis.leases.LeaseManagementConfig;

/** What releases before 2.3 alone have: the position of new leases is set here too. */
final class Release {
    private Release() {}

    static LeaseManagementConfig leases(LeaseManagementConfig stock, Request request) {
        return stock.initialPositionInStream(Tracked.position(request.text("initial")));
    }
}
