"""One shard's life in a worker: wait for parents, start, read, end (ShardConsumer, 2.7/3.5).

1.0–1.13 and 2.0–2.2: ShutdownTask of 1.13.3 and 2.2.11, which save SHARD_END before they
synchronise, and know no ChildShards in the answer of GetRecords.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tests.proof.reference.kcl_full_sync import full_sync
from tests.proof.reference.kcl_lease import (
    SHARD_END,
    Lease,
    UnreadableRowError,
    checkpointed,
    syncs_fully,
    version,
)
from tests.proof.reference.kcl_stream import ShardGoneError, shard_of
from tests.proof.reference.kcl_sync import SyncRefusedError

if TYPE_CHECKING:
    from tests.proof.reference.kcl import Worker

BATCH = 2


class ShardConsumer:
    """Runs one lease. ``stuck`` says why it does not go on; None while it does or is done.

    The parents are those of the row at the moment when it was taken; the checkpoint is read when
    the shard starts.
    """

    def __init__(self, worker: Worker, lease: Lease) -> None:
        self.worker = worker
        self.lease = lease
        self.stuck: str | None = None
        self.done = lease.ended  # an ended lease is left as it is: no children are created
        self.iterator: str | None = None
        self.children: list[dict[str, Any]] = []
        self.step = self._wait
        self.fully = syncs_fully(worker.release)

    def run(self) -> bool:
        """Do one thing; True when something changed."""
        return False if self.done else self.step()

    def _wait(self) -> bool:
        for parent in sorted(self.lease.parents):
            try:
                lease = self.worker.lease(parent)
            except UnreadableRowError as error:
                return self._stay(f"parent unreadable: {error}")
            if lease is not None and not lease.ended:
                return self._stay(f"waits for {parent}")
        return self._go(self._start)

    def _start(self) -> bool:
        lease = self.worker.lease(self.lease.key)
        if lease is None or lease.checkpoint is None:
            return self._stay("no checkpoint")
        if lease.checkpoint == SHARD_END and version(self.worker.release) < (2,):
            return self._go(self._end)  # KinesisDataFetcher of 1.x: no iterator, so at its end
        try:
            self.iterator = self.worker.source.iterator(
                lease.key, lease.checkpoint, self.worker.initial
            )
        except ShardGoneError:
            return self._go(self._end)
        except (ClientError, ValueError) as error:
            return self._stay(str(error))
        self.floor = (int(lease.checkpoint), lease.sub) if lease.checkpoint.isdigit() else (-1, 0)
        return self._go(self._read)

    def _read(self) -> bool:
        assert self.iterator is not None
        try:
            answer = self.worker.source.records(self.iterator, BATCH)
        except ShardGoneError:
            return self._go(self._end)
        following = answer.get("NextShardIterator")
        self.children = answer.get("ChildShards") or []
        if not self.fully and (following is None) != bool(self.children):
            return self._stay("the end of the shard names no child")
        fresh = [
            record
            for record in answer["Records"]
            if (int(record["SequenceNumber"]), 0) > self.floor
        ]
        for record in fresh:
            self.worker.deliver(self.lease.key, record["Data"].decode())
        if fresh:
            self._save(fresh[-1]["SequenceNumber"])
        if following is None:
            return self._go(self._end)
        self.iterator = following
        self.stuck = None
        return bool(answer["Records"])

    def _end(self) -> bool:
        if self.fully:
            return self._end_and_sync()
        try:
            if (why := self._partial_parents()) is not None:
                return self._stay(why)
            for child in map(shard_of, self.children):
                if self.worker.lease(child.id) is None:
                    self.worker.create(child.id, "TRIM_HORIZON", list(child.parents), child.hashes)
        except UnreadableRowError as error:
            return self._stay(str(error))
        if self.children:
            names = sorted(child["ShardId"] for child in self.children)
            self.worker.table[self.lease.key]["childShardIds"] = {"SS": names}
        self._save(SHARD_END)
        self.done, self.stuck = True, None
        self.worker.finished.append(self.lease.key)
        return True

    def _end_and_sync(self) -> bool:
        """verifyShardClosure, SHARD_END, then the synchronisation; what it throws is retried."""
        key = self.lease.key
        if not any(key in shard.parents for shard in self.worker.source.shards()):
            return self._stay("the shard is no parent of any: the lease is dropped")
        self._save(SHARD_END)
        try:
            full_sync(self.worker)
        except (SyncRefusedError, UnreadableRowError) as error:
            return self._stay(str(error))
        self.done, self.stuck = True, None
        return True

    def _partial_parents(self) -> str | None:
        """A merge ends only when both parents have leases, or neither."""
        if len(self.children) != 1:
            return None
        parents = sorted(self.children[0]["ParentShards"])
        if len(parents) != 2:
            return "the only child names one parent"
        there = [self.worker.lease(parent) is not None for parent in parents]
        return None if there[0] == there[1] else f"merge with one parent's lease missing: {parents}"

    def _save(self, checkpoint: str) -> None:
        self.worker.table[self.lease.key] = checkpointed(
            self.worker.table[self.lease.key], checkpoint, self.worker.release
        )

    def _go(self, step: Any) -> bool:
        self.step, self.stuck = step, None
        return True

    def _stay(self, why: str) -> bool:
        self.stuck = why
        return False
