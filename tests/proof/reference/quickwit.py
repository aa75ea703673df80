"""An executable model of Quickwit's Kinesis source from its start on, releases 0.8.2 and 0.9.0.

Written from `quickwit-indexing/src/source/kinesis/{kinesis_source,shard_consumer,api}.rs` at both
tags. It knows nothing of the package but its FakeKinesis. One source, its shard consumers taken in
turn, a sink that publishes each batch at once; a supervisor that starts it again is left out, so a
run ends where the real one would begin anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from reshardctl.testing import FakeKinesis
from tests.proof.reference.listing import listed
from tests.proof.reference.quickwit_checkpoint import Delta, DeltaError, Mark

RELEASES = ("0.8.2", "0.9.0")
BETWEEN_READS = 0.21  # schedule_self_msg in ShardConsumer
WINDOW = 0.5  # EMIT_BATCHES_TIMEOUT
QUIET = 4
"""Windows without any message after which a run is over."""
ASSERTION = "assertion failed: !self.state.shard_consumers.contains_key(&shard_id)"
END_PANIC = "position of a Kinesis shard should never be EOF"


class PanicError(Exception):
    """The source panics; its supervisor starts it again, for ever."""


class FailureError(Exception):
    """The source returns an error."""


@dataclass(slots=True)
class Run:
    """What became of one start. delivered: payloads by shard, those of batches that were sent.

    published: the changes, in order. dead: shards whose own consumer failed, with Kinesis's words.
    """

    checkpoint: dict[str, str] | None
    delivered: dict[str, list[str]] = field(default_factory=dict)
    published: list[dict[str, dict[str, str]]] = field(default_factory=list)
    publish: list[str] = field(default_factory=list)
    panic: str | None = None
    exit: str | None = None
    dead: dict[str, str] = field(default_factory=dict)

    @property
    def died(self) -> bool:
        """Whether the source as a whole came down."""
        return self.panic is not None or (self.exit or "").startswith("Failure")


@dataclass(slots=True)
class ShardConsumer:
    """One shard's actor. It reports to the source's queue, and dies alone."""

    shard: str
    after: str | None
    client: Any
    stream: str
    backfill: bool
    inbox: deque[tuple[str, str, Any]]
    iterator: str | None = None
    begun: bool = False
    over: bool = False

    def turn(self) -> None:
        """Ask for an iterator, or read once; ClientError kills the actor."""
        if not self.begun:
            where = {"ShardIteratorType": "TRIM_HORIZON"} if self.after is None else {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": self.after,
            }
            self.iterator = self.client.get_shard_iterator(
                StreamName=self.stream, ShardId=self.shard, **where
            )["ShardIterator"]
            self.begun = True
        if self.iterator is None:
            self._end("closed")
            return
        answer = self.client.get_records(ShardIterator=self.iterator)
        self.iterator = answer.get("NextShardIterator")
        if answer["Records"]:
            self.inbox.append(("records", self.shard, answer["Records"]))
        born = [
            child["ShardId"] for child in answer.get("ChildShards", ())
            if child["ParentShards"][0] == self.shard
        ]
        if born:
            self.inbox.append(("children", self.shard, born))
        if self.backfill and answer.get("MillisBehindLatest") == 0:
            self._end("eof")

    def _end(self, what: str) -> None:
        self.inbox.append((what, self.shard, None))
        self.over = True


@dataclass(slots=True)
class Source:
    """KinesisSource: the map of shards, and what it does with each message."""

    fake: FakeKinesis
    stream: str
    release: str
    run: Run
    index_uid: str = "events:00000000000000000000000000"
    source: str = "kinesis-events"
    backfill: bool = False
    late: frozenset[str] = frozenset()
    """Shards whose turn comes after all others': whose actors run first is nobody's promise."""
    shards: dict[str, tuple[ShardConsumer, Mark]] = field(default_factory=dict)
    inbox: deque[tuple[str, str, Any]] = field(default_factory=deque)
    actors: list[ShardConsumer] = field(default_factory=list)
    loaded: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        """`initialize`: every listed shard, open or closed, each at its position."""
        shards = listed(self.fake.client(), self.stream)
        self.loaded = self._fetch()
        for shard in shards:
            self._spawn(shard["ShardId"])

    def _fetch(self) -> dict[str, str]:
        """The stored positions; without the source's key 0.9 fails and 0.8 begins anew."""
        stored = self.run.checkpoint
        if stored is None and self.release != "0.8.2":
            raise FailureError(
                "failed to fetch checkpoint\n\nCaused by:\n    internal error: could not find "
                f"checkpoint for index `{self.index_uid}` and source `{self.source}`; cause: ``"
            )
        return dict(stored or {})

    def _spawn(self, shard: str) -> None:
        if shard in self.shards:
            if self.release == "0.8.2":
                raise PanicError(ASSERTION)
            return
        mark = Mark.of(self.loaded.get(shard, ""))
        if mark.is_end:
            raise PanicError(END_PANIC)
        actor = ShardConsumer(
            shard, mark.offset or None, self.fake.client(), self.stream, self.backfill, self.inbox
        )
        self.shards[shard] = (actor, mark)
        self.actors.append(actor)

    def turn(self) -> bool:
        """Every living actor once, then every message; True when anything came."""
        actors = sorted(self.actors, key=lambda actor: actor.shard in self.late)
        for actor in actors:
            try:
                actor.turn()
            except ClientError as error:
                self.run.dead[actor.shard] = error.response["Error"]["Message"]
                actor.over = True
            if actor.over:
                self.actors.remove(actor)
        return bool(self.inbox)

    def take(self, delta: Delta, docs: dict[str, list[str]]) -> None:
        """Work off the queue as `emit_batches` does."""
        while self.inbox:
            what, shard, load = self.inbox.popleft()
            if what == "children":
                self.loaded = self._fetch() if self.release != "0.8.2" else self.loaded
                for child in load:
                    self._spawn(child)
            elif what == "records":
                self._records(shard, load, delta, docs)
            else:
                self.shards.pop(shard, None)

    def _records(
        self, shard: str, records: list[Any], delta: Delta, docs: dict[str, list[str]]
    ) -> None:
        for place, record in enumerate(records):
            if not record["Data"]:
                continue  # an empty record is passed by, and with it the position if it is the last
            docs.setdefault(shard, []).append(record["Data"].decode())
            if place == len(records) - 1:
                if shard not in self.shards:
                    raise FailureError(f"received record from unassigned shard `{shard}`")
                actor, before = self.shards[shard]
                mark = Mark(1, record["SequenceNumber"])
                self.shards[shard] = (actor, mark)
                try:
                    delta.record(shard, before, mark)
                except DeltaError as error:
                    raise FailureError(
                        f"failed to record partition delta\n\nCaused by:\n    {error}"
                    ) from error

    def publish(self, delta: Delta, docs: dict[str, list[str]]) -> None:
        """A batch without a change is never sent, whatever it holds."""
        if not delta.shards:
            return
        self.run.published.append({
            shard: {"from": begins.text, "to": ends.text}
            for shard, (begins, ends) in sorted(delta.shards.items())
        })
        try:
            self.run.checkpoint = delta.applied(self.run.checkpoint or {})
        except DeltaError as error:
            self.run.publish.append(str(error))
            raise FailureError(str(error)) from error
        self.run.publish.append("accepted")
        for shard, payloads in docs.items():
            self.run.delivered.setdefault(shard, []).extend(payloads)


def started(
    fake: FakeKinesis, stream: str, checkpoint: Mapping[str, str] | None, release: str,
    *, live: Callable[[], None] | None = None, **more: Any,
) -> Run:
    """Start a source on a checkpoint and let it run until it is quiet, or dead.

    live: called once when all shards have been asked for. more: fields of `Source`.
    """
    run = Run(None if checkpoint is None else dict(checkpoint))
    source = Source(fake, stream, release, run, **more)
    try:
        source.start()
        _work(source, live)
    except PanicError as panic:
        run.panic = str(panic)
    except FailureError as failure:
        run.exit = f"Failure({failure})"
    return run


def _work(source: Source, live: Callable[[], None] | None) -> None:
    now, window, quiet, delta, docs = 0.0, WINDOW, 0, Delta(), {}  # type: ignore[var-annotated]
    came = False
    while quiet < QUIET:
        came |= source.turn()
        source.take(delta, docs)
        if live is not None:
            live()
            live = None
        source.fake.clock.advance(BETWEEN_READS)
        now += BETWEEN_READS
        if now < window:
            continue
        source.publish(delta, docs)
        window, delta, docs = window + WINDOW, Delta(), {}
        if source.backfill and not source.shards:
            source.run.exit = "Success"
            return
        quiet, came = (0 if came else quiet + 1), False
