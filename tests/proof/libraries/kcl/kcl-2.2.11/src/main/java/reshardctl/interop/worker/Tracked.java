package reshardctl.interop.worker;

import java.util.Date;
import reshardctl.interop.Request;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.retrieval.RetrievalConfig;
import software.amazon.kinesis.retrieval.polling.PollingConfig;

/** The one stream that releases before 2.3 read, and from where. */
final class Tracked {
    private Tracked() {}

    static ConfigsBuilder builder(Request request, Clients clients) {
        return new ConfigsBuilder(
                request.text("stream"),
                request.text("table"),
                clients.kinesis(),
                clients.dynamodb(),
                clients.cloudwatch(),
                request.text("worker"),
                () -> new Recorder(request.name(), ""));
    }

    static RetrievalConfig retrieval(RetrievalConfig stock, Request request, Clients clients) {
        var polling = new PollingConfig(request.text("stream"), clients.kinesis())
                .idleTimeBetweenReadsInMillis(request.number("idle"));
        return stock.retrievalSpecificConfig(polling)
                .initialPositionInStreamExtended(position(request.text("initial")));
    }

    static InitialPositionInStreamExtended position(String text) {
        var parts = text.split(":", 2);
        if (parts.length == 1) {
            var position = InitialPositionInStream.valueOf(text);
            return InitialPositionInStreamExtended.newInitialPosition(position);
        }
        var time = new Date(Long.parseLong(parts[1]));
        return InitialPositionInStreamExtended.newInitialPositionAtTimestamp(time);
    }
}
