package reshardctl.interop.worker;

import java.util.Arrays;
import java.util.Date;
import java.util.List;
import reshardctl.interop.Request;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.common.StreamConfig;
import software.amazon.kinesis.common.StreamIdentifier;
import software.amazon.kinesis.processor.FormerStreamsLeasesDeletionStrategy;
import software.amazon.kinesis.processor.MultiStreamTracker;
import software.amazon.kinesis.processor.SingleStreamTracker;
import software.amazon.kinesis.processor.StreamTracker;
import software.amazon.kinesis.retrieval.polling.PollingConfig;

/** Which streams are read, and from where: one, or those of a multi-stream application. */
final class Tracked {
    private Tracked() {}

    static StreamTracker tracker(Request request) {
        var position = position(request.text("initial"));
        if (several(request)) {
            return new Streams(Arrays.stream(request.text("streams").split(","))
                    .map(StreamIdentifier::multiStreamInstance)
                    .map(stream -> new StreamConfig(stream, position))
                    .toList());
        }
        var stream = StreamIdentifier.singleStreamInstance(request.text("stream"));
        return new SingleStreamTracker(stream, position);
    }

    static PollingConfig polling(Request request, KinesisAsyncClient kinesis) {
        return several(request)
                ? new PollingConfig(kinesis)
                : new PollingConfig(request.text("stream"), kinesis);
    }

    private static boolean several(Request request) {
        return request.values().containsKey("streams");
    }

    private static InitialPositionInStreamExtended position(String text) {
        var parts = text.split(":", 2);
        if (parts.length == 1) {
            var position = InitialPositionInStream.valueOf(text);
            return InitialPositionInStreamExtended.newInitialPosition(position);
        }
        var time = new Date(Long.parseLong(parts[1]));
        return InitialPositionInStreamExtended.newInitialPositionAtTimestamp(time);
    }

    private record Streams(List<StreamConfig> streamConfigList) implements MultiStreamTracker {

        @Override
        public FormerStreamsLeasesDeletionStrategy formerStreamsLeasesDeletionStrategy() {
            return new FormerStreamsLeasesDeletionStrategy.NoLeaseDeletionStrategy();
        }
    }
}
