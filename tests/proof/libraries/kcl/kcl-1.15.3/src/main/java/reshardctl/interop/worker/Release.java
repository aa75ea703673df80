package reshardctl.interop.worker;

import com.amazonaws.services.kinesis.clientlibrary.lib.worker.KinesisClientLibConfiguration;
import reshardctl.interop.Request;

/** What release 1.14 brought: an auditor, which begins at once. */
final class Release {
    private Release() {}

    static KinesisClientLibConfiguration configuration(
            KinesisClientLibConfiguration stock, Request request) {
        return stock.withLeasesRecoveryAuditorExecutionFrequencyMillis(request.number("audit"));
    }
}
