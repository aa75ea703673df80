package reshardctl.interop.worker;

import com.amazonaws.services.kinesis.clientlibrary.lib.worker.InitialPositionInStream;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.KinesisClientLibConfiguration;
import com.amazonaws.services.kinesis.metrics.impl.NullMetricsFactory;
import java.util.Date;
import reshardctl.interop.Application;
import reshardctl.interop.Request;

/** A worker of release 1, stock but for its intervals, its metrics (off) and its addresses. */
public final class Worker implements Application {
    private volatile com.amazonaws.services.kinesis.clientlibrary.lib.worker.Worker worker;
    private volatile boolean asked;

    @Override
    public boolean run(Request request) {
        var clients = Clients.of(request);
        try {
            worker = worker(request, clients);
            if (!asked) {
                worker.run();
            }
            return asked;
        } finally {
            clients.close();
        }
    }

    @Override
    public void stop() {
        asked = true;
        var running = worker;
        if (running != null) {
            running.shutdown();
        }
    }

    private static com.amazonaws.services.kinesis.clientlibrary.lib.worker.Worker worker(
            Request request, Clients clients) {
        return new com.amazonaws.services.kinesis.clientlibrary.lib.worker.Worker.Builder()
                .recordProcessorFactory(() -> new Recorder(request.name()))
                .config(Release.configuration(configuration(request), request))
                .kinesisClient(clients.kinesis())
                .dynamoDBClient(clients.dynamodb())
                .cloudWatchClient(clients.cloudwatch())
                .metricsFactory(new NullMetricsFactory())
                .build();
    }

    @SuppressWarnings("deprecation") // Release 1.15 prefers a stream's ARN, which 1.13 has not.
    private static KinesisClientLibConfiguration configuration(Request request) {
        var stock = new KinesisClientLibConfiguration(
                request.text("table"),
                request.text("stream"),
                Clients.CREDENTIALS,
                request.text("worker"));
        return initial(stock, request.text("initial"))
                .withFailoverTimeMillis(request.number("failover"))
                .withIdleTimeBetweenReadsInMillis(request.number("idle"))
                // Also what lies between the twenty attempts to initialize.
                .withParentShardPollIntervalMillis(request.number("poll"));
    }

    private static KinesisClientLibConfiguration initial(
            KinesisClientLibConfiguration stock, String text) {
        var parts = text.split(":", 2);
        if (parts.length == 1) {
            return stock.withInitialPositionInStream(InitialPositionInStream.valueOf(text));
        }
        return stock.withTimestampAtInitialPositionInStream(new Date(Long.parseLong(parts[1])));
    }
}
