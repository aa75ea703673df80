package reshardctl.interop.worker;

import java.nio.charset.StandardCharsets;
import reshardctl.interop.Events;
import reshardctl.interop.Request;
import software.amazon.kinesis.common.StreamIdentifier;
import software.amazon.kinesis.exceptions.InvalidStateException;
import software.amazon.kinesis.exceptions.ShutdownException;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ProcessRecordsInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.processor.RecordProcessorCheckpointer;
import software.amazon.kinesis.processor.ShardRecordProcessor;
import software.amazon.kinesis.processor.ShardRecordProcessorFactory;

/** An application that writes down every record it is given and checkpoints after each batch. */
final class Recorder implements ShardRecordProcessor {
    private final String run;
    private final String stream;
    private String shard = "";

    /** {@code stream} stands before the shard's id: empty, or another stream's identifier and a colon. */
    private Recorder(String run, String stream) {
        this.run = run;
        this.stream = stream;
    }

    static ShardRecordProcessorFactory factory(Request request) {
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

    @Override
    public void initialize(InitializationInput input) {
        shard = stream + input.shardId();
        Events.say(run, "INIT", "shard", shard, "position", input.extendedSequenceNumber().sequenceNumber());
    }

    @Override
    public void processRecords(ProcessRecordsInput input) {
        for (var record : input.records()) {
            var payload = StandardCharsets.UTF_8.decode(record.data()).toString();
            Events.say(run, "RECORD", "shard", shard, "payload", payload, "number", record.sequenceNumber());
        }
        if (!input.records().isEmpty()) {
            checkpoint(input.checkpointer());
        }
    }

    @Override
    public void leaseLost(LeaseLostInput input) {
        Events.say(run, "LEASE_LOST", "shard", shard);
    }

    @Override
    public void shardEnded(ShardEndedInput input) {
        Events.say(run, "SHARD_END", "shard", shard);
        checkpoint(input.checkpointer());
    }

    @Override
    public void shutdownRequested(ShutdownRequestedInput input) {
        checkpoint(input.checkpointer());
    }

    private void checkpoint(RecordProcessorCheckpointer checkpointer) {
        try {
            checkpointer.checkpoint();
        } catch (ShutdownException | InvalidStateException lost) {
            Events.say(run, "LOG", "level", "WARN", "logger", "checkpoint", "text", lost.toString());
        }
    }
}
