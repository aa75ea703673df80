package reshardctl.interop.worker;

import com.amazonaws.services.kinesis.clientlibrary.exceptions.InvalidStateException;
import com.amazonaws.services.kinesis.clientlibrary.exceptions.ShutdownException;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.IRecordProcessorCheckpointer;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.v2.IRecordProcessor;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.ShutdownReason;
import com.amazonaws.services.kinesis.clientlibrary.types.InitializationInput;
import com.amazonaws.services.kinesis.clientlibrary.types.ProcessRecordsInput;
import com.amazonaws.services.kinesis.clientlibrary.types.ShutdownInput;
import java.nio.charset.StandardCharsets;
import reshardctl.interop.Events;

/** An application that writes down every record it is given and checkpoints after each batch. */
final class Recorder implements IRecordProcessor {
    private final String run;
    private String shard = "";

    Recorder(String run) {
        this.run = run;
    }

    /** Release 1.15 calls it on every lease, also on one that is ended already. */
    @Override
    public void initialize(InitializationInput input) {
        shard = input.getShardId();
        var position = input.getExtendedSequenceNumber().getSequenceNumber();
        Events.say(run, "INIT", "shard", shard, "position", position);
    }

    @Override
    public void processRecords(ProcessRecordsInput input) {
        for (var record : input.getRecords()) {
            var payload = StandardCharsets.UTF_8.decode(record.getData()).toString();
            var number = record.getSequenceNumber();
            Events.say(run, "RECORD", "shard", shard, "payload", payload, "number", number);
        }
        if (!input.getRecords().isEmpty()) {
            checkpoint(input.getCheckpointer());
        }
    }

    @Override
    public void shutdown(ShutdownInput input) {
        if (input.getShutdownReason() == ShutdownReason.TERMINATE) {
            Events.say(run, "SHARD_END", "shard", shard);
            checkpoint(input.getCheckpointer());
        } else {
            Events.say(run, "LEASE_LOST", "shard", shard);
        }
    }

    private void checkpoint(IRecordProcessorCheckpointer checkpointer) {
        try {
            checkpointer.checkpoint();
        } catch (ShutdownException | InvalidStateException lost) {
            var text = lost.toString();
            Events.say(run, "LOG", "level", "WARN", "logger", "checkpoint", "text", text);
        }
    }
}
