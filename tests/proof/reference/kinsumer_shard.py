"""One shard's life in a client: capture, read, commit, finish, release (shard_consumer.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tests.proof.reference.kinsumer_rows import UnmarshalError, checkpoint_of, nanos, rfc, row_of

if TYPE_CHECKING:
    from tests.proof.reference.kinsumer import Client

BATCH = 2
CLIENT_AGE = 300.0


class ShardReader:
    """Goes on until its end, an error, or a stop; after an error it stands still until a restart.

    It looks at nothing but its own row: neither at Finished nor at any other shard.
    """

    def __init__(self, client: Client, shard: str) -> None:
        self.client = client
        self.shard = shard
        self.number = ""  # sequenceNumber, "" for none
        self.captured = False
        self.over = False
        self.iterator: str | None = None

    def run(self) -> bool:
        """Do one thing; True when something changed."""
        if self.over:
            return False
        try:
            if not self.captured:
                return self._capture()
            return self._read()
        except UnmarshalError as error:
            return self._fail("captureShard", error)
        except ClientError as error:
            return self._fail("getShardIterator or getRecords", error)

    def stop(self) -> None:
        """k.stop: what was delivered is committed and the row released."""
        if self.captured:
            self._release()
        self.over = True

    def _capture(self) -> bool:
        """capture: refused while another owner's row is younger than maxAge."""
        now = self.client.now()
        record = checkpoint_of(self.client.checkpoints.get(self.shard, {}))
        if record.owner is not None and record.updated > nanos(now - CLIENT_AGE):
            return False
        record.shard, record.owner, record.updated = self.shard, "reference", nanos(now)
        self.client.checkpoints[self.shard] = row_of(record, "reference", now)
        self.number, self.captured = record.number or "", True
        self.iterator = self._first()
        return True

    def _first(self) -> str:
        """getShardIterator."""
        ask: dict[str, Any] = {"StreamName": self.client.stream, "ShardId": self.shard}
        if not self.number and self.client.since is not None:
            ask |= {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": self.client.since}
        elif not self.number:
            ask["ShardIteratorType"] = "TRIM_HORIZON"
        elif self.number == "LATEST":
            ask["ShardIteratorType"] = "LATEST"
        else:
            ask |= {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": self.number
            }
        return str(self.client.fake.client().get_shard_iterator(**ask)["ShardIterator"])

    def _read(self) -> bool:
        answer = self.client.fake.client().get_records(ShardIterator=self.iterator, Limit=BATCH)
        for record in answer["Records"]:
            self.client.deliver(self.shard, record["Data"].decode())
            self.number = record["SequenceNumber"]
        self.iterator = answer.get("NextShardIterator")
        if answer["Records"]:
            self._commit(None)
        if self.iterator is None:
            # commit after finish: everything delivered is acknowledged by now.
            self._commit(nanos(self.client.now()))
            self._release()
            self.over = True
            return True
        return bool(answer["Records"])

    def _commit(self, finished: int | None) -> None:
        """The whole row anew: what else stood in it is gone, a finished mark too."""
        now = self.client.now()
        record = checkpoint_of({})
        record.shard, record.number = self.shard, self.number or None
        record.owner, record.updated, record.finished = "reference", nanos(now), finished
        self.client.checkpoints[self.shard] = row_of(record, "reference", now)

    def _release(self) -> None:
        now = self.client.now()
        row = self.client.checkpoints[self.shard]
        for name in ("OwnerID", "OwnerName"):
            row.pop(name, None)
        empty = {"NULL": True} if self.client.release == "twitch" else {"S": ""}
        row["SequenceNumber"] = {"S": self.number} if self.number else empty
        row["LastUpdate"], row["LastUpdateRFC"] = {"N": str(nanos(now))}, {"S": rfc(now)}
        self.captured = False

    def _fail(self, action: str, error: Exception) -> bool:
        """The error goes to Next(), the deferred release runs, nobody reads the shard."""
        self.client.errors[self.shard] = f"{action}: {error}"
        if self.captured:
            self._release()
        self.over = True
        return True
