package reshardctl.interop.worker;

import java.util.Arrays;
import java.util.Date;
import java.util.List;
import reshardctl.interop.Request;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.common.StreamConfig;
import software.amazon.kinesis.common.StreamIdentifier;
import software.amazon.kinesis.processor.FormerStreamsLeasesDeletionStrategy;
import software.amazon.kinesis.processor.MultiStreamTracker;
import software.amazon.kinesis.processor.ShardRecordProcessor;
import software.amazon.kinesis.processor.ShardRecordProcessorFactory;
import software.amazon.kinesis.processor.SingleStreamTracker;
import software.amazon.kinesis.processor.StreamTracker;
import software.amazon.kinesis.retrieval.RetrievalConfig;
import software.amazon.kinesis.retrieval.polling.PollingConfig;

/** Which streams are read, and from where: one, or those of a multi-stream application. */
final class Tracked {
    private Tracked() {}

    static ConfigsBuilder builder(Request request, Clients clients) {
        return new ConfigsBuilder(
                tracker(request),
                request.text("table"),
                clients.kinesis(),
                clients.dynamodb(),
                clients.cloudwatch(),
                request.text("worker"),
                factory(request));
    }

    static RetrievalConfig retrieval(RetrievalConfig stock, Request request, Clients clients) {
        var polling = several(request)
                ? new PollingConfig(clients.kinesis())
                : new PollingConfig(request.text("stream"), clients.kinesis());
        return stock.retrievalSpecificConfig(
                polling.idleTimeBetweenReadsInMillis(request.number("idle")));
    }

    private static StreamTracker tracker(Request request) {
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

    private static ShardRecordProcessorFactory factory(Request request) {
        return new ShardRecordProcessorFactory() {
            @Override
            public ShardRecordProcessor shardRecordProcessor() {
                return new Recorder(request.name(), "");
            }

            @Override
            public ShardRecordProcessor shardRecordProcessor(StreamIdentifier stream) {
                var own = stream.streamName().equals(request.text("stream"));
                return new Recorder(request.name(), own ? "" : stream.serialize() + ":");
            }
        };
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
