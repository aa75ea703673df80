package reshardctl.interop.worker;

import reshardctl.interop.Application;
import reshardctl.interop.Request;
import software.amazon.kinesis.coordinator.CoordinatorConfig;
import software.amazon.kinesis.coordinator.Scheduler;
import software.amazon.kinesis.leases.LeaseManagementConfig;
import software.amazon.kinesis.metrics.NullMetricsFactory;

/** A worker of the library, stock but for its intervals, its metrics (off) and its addresses. */
public final class Worker implements Application {
    private volatile Scheduler scheduler;
    private volatile boolean asked;

    @Override
    public boolean run(Request request) {
        try (var clients = Clients.of(request)) {
            scheduler = scheduler(request, clients);
            if (!asked) {
                scheduler.run();
            }
            return asked;
        }
    }

    @Override
    public void stop() {
        asked = true;
        var running = scheduler;
        if (running != null) {
            running.shutdown();
        }
    }

    private static Scheduler scheduler(Request request, Clients clients) {
        var builder = Tracked.builder(request, clients);
        return new Scheduler(
                builder.checkpointConfig(),
                coordination(builder.coordinatorConfig(), request),
                leases(builder.leaseManagementConfig(), request),
                builder.lifecycleConfig(),
                builder.metricsConfig().metricsFactory(new NullMetricsFactory()),
                builder.processorConfig(),
                Tracked.retrieval(builder.retrievalConfig(), request, clients));
    }

    private static CoordinatorConfig coordination(CoordinatorConfig stock, Request request) {
        return stock.parentShardPollIntervalMillis(request.number("poll"))
                .shardConsumerDispatchPollIntervalMillis(request.number("poll"))
                // The twenty attempts stay; what lies between them is shortened.
                .schedulerInitializationBackoffTimeMillis(request.number("poll"));
    }

    private static LeaseManagementConfig leases(LeaseManagementConfig stock, Request request) {
        return Release.leases(stock.failoverTimeMillis(request.number("failover")), request);
    }
}
