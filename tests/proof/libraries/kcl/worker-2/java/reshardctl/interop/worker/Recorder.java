package reshardctl.interop.worker;

import java.nio.charset.StandardCharsets;
import reshardctl.interop.Events;
import software.amazon.kinesis.exceptions.InvalidStateException;
import software.amazon.kinesis.exceptions.ShutdownException;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ProcessRecordsInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.processor.RecordProcessorCheckpointer;
import software.amazon.kinesis.processor.ShardRecordProcessor;

/** An application that writes down every record it is given and checkpoints after each batch. */
final class Recorder implements ShardRecordProcessor {
    private final String run;
    private final String stream;
    private String shard = "";

    /** {@code stream} stands before shard ids: "", or another stream's identifier and a colon. */
    Recorder(String run, String stream) {
        this.run = run;
        this.stream = stream;
    }

    @Override
    public void initialize(InitializationInput input) {
        shard = stream + input.shardId();
        var position = input.extendedSequenceNumber().sequenceNumber();
        Events.say(run, "INIT", "shard", shard, "position", position);
    }

    @Override
    public void processRecords(ProcessRecordsInput input) {
        for (var record : input.records()) {
            var payload = StandardCharsets.UTF_8.decode(record.data()).toString();
            var number = record.sequenceNumber();
            Events.say(run, "RECORD", "shard", shard, "payload", payload, "number", number);
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
            var text = lost.toString();
            Events.say(run, "LOG", "level", "WARN", "logger", "checkpoint", "text", text);
        }
    }
}
