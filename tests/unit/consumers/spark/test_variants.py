"""Recorded checkpoints under edits of their batches: what is processed, read and kept in place.

s1 has one split, its parent 6 records behind and batch 0 committed; in u1 the batch after it died
in the sink. What the real connectors delivered after edits is in test_golden.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.positions import (
    SHARD_END,
    TRIM_HORIZON,
    Position,
)
from reshardctl.errors import UsageError
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cause,
    Fate,
    Frontier,
    Image,
    ShardId,
    WillRead,
    after,
    at_number,
    shard_id,
)
from reshardctl.planning.plan import Case
from tests.support.connector_entries import entry_text
from tests.support.spark_recorded import FOLDERS, HEAD, QUBOLE, V1, Recorded

BEGINNING = Position(TRIM_HORIZON)
END = Position(SHARD_END)
Places = Mapping[int, Position]


class Edited:
    """A recorded checkpoint under edits by hand."""

    def __init__(self, shape: str, release: str) -> None:
        self.recorded = Recorded(shape, release, FOLDERS[release])
        self.release = release
        self.files = {image.key: image for image in self.recorded.images}
        self.connector = qubole if release == QUBOLE else awslabs
        self.log = f"sources/0/{'shard-commit' if release == QUBOLE else 'shard-source'}"

    @property
    def read(self) -> Position:
        """Where the parent stood, as it was written to the real connector."""
        return Position(*self.recorded.facts["repair"]["shards"]["0"])

    def put(self, key: str, text: str) -> None:
        self.files[key] = Image(key, {"text": {"S": text}, "size": {"N": str(len(text))}})

    def drop(self, prefix: str) -> None:
        self.files = {k: one for k, one in self.files.items() if not k.startswith(prefix)}

    def plan(self, batch: int, places: Places, batch_id: int | None = None) -> None:
        """An offset log with these starts, in the connector's own key order."""
        scala = "2.13" if self.release == HEAD else "2.12"
        named = {shard_id(shard): position for shard, position in places.items()}
        line = self.connector.line("st", batch if batch_id is None else batch_id, named, scala)
        self.offsets(batch, line)

    def offsets(self, batch: int, line: str) -> None:
        head = self.files["offsets/0"].attributes["text"]["S"].split("\n")[:2]
        self.put(f"offsets/{batch}", "\n".join([*head, line]))

    def end(self, batch: int, places: Places) -> None:
        """The connector's log of a batch."""
        self.files.setdefault(f"{self.log}/{batch}/", Image(f"{self.log}/{batch}/", {}))
        for shard, position in places.items():
            name = shard_id(shard)
            self.put(f"{self.log}/{batch}/{name}", entry_text(self.connector, name, position))

    def commit(self, batch: int) -> None:
        self.put(f"commits/{batch}", self.files["commits/0"].attributes["text"]["S"])

    def starts(self) -> dict[int, Position]:
        return {0: self.read, 1: BEGINNING, 2: BEGINNING}


def case(edited: Edited, shape: str = "s1", **said: str) -> Case:
    files = sorted(edited.files.values(), key=lambda image: image.key)
    return Recorded(shape, edited.release, FOLDERS[edited.release], **said).case(files)


def start(one: Case) -> tuple[Frontier, Mapping[ShardId, Fate]]:
    lineage, checkpoint, app = one.state.lineage, one.checkpoint(), one.candidates[0].app
    return (one.consumer.processed(lineage, checkpoint, app),
            one.consumer.simulate_start(lineage, checkpoint, app).fates)


def test_a_release_of_another_connector_is_refused() -> None:
    with pytest.raises(UsageError, match="its files look otherwise"):
        Recorded("s1", "awslabs-2.0.0", FOLDERS[QUBOLE]).case()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("limit", "may_drop"), [("1", True), ("2000000000", False)])
def test_a_limit_that_the_rest_of_a_closed_shard_cannot_reach_drops_nothing(
    limit: str, may_drop: bool, whole: bool
) -> None:
    """A shard takes 1,000 records a second at most (API reference of PutRecords)."""
    edited = Edited("u1", HEAD)
    edited.plan(1, edited.starts() | ({0: BEGINNING} if whole else {}))
    edited.drop(f"{edited.log}/1")
    fate = start(case(edited, "u1", maxFetchRecordsPerShard=limit))[1][shard_id(0)]
    assert isinstance(fate, WillRead) and bool(fate.possible) is may_drop


@pytest.mark.parametrize(("release", "kept"), [(V1, {0, 1, 2}), (HEAD, {1, 2})])
def test_what_is_left_alone_keeps_its_place_unless_it_is_dropped(release: str, kept: set) -> None:
    """awslabs from 1.4.3 on reads no closed shard that it finds in a new batch."""
    edited = Edited("s1", release)
    edited.plan(0, edited.starts())
    edited.end(0, edited.starts())
    one = case(edited)
    lineage, app = one.state.lineage, one.candidates[0].app
    want = {shard_id(2): at_number(str(int(lineage[shard_id(2)].start) + (1 << 80)))}
    leave = {shard_id(0), shard_id(1)}
    steps = one.consumer.encode(lineage, one.checkpoint(), want, app, leave)
    assert not isinstance(steps, Cannot)
    (log,) = [i for i in after(one.images, steps) if i.key == "offsets/1"]
    places = json.loads(log.attributes["text"]["S"].split("\n")[2])
    assert {*places} - {"metadata"} == set(map(shard_id, kept))


def test_a_shard_left_alone_begins_where_the_option_names_it() -> None:
    """startingPosition counts for what no batch names, so the batch that is written names it."""
    line = qubole.line("st", 0, {shard_id(1): Position("LATEST")}, "2.12")
    one = case(Edited("s1", QUBOLE), startingPosition=line)
    lineage, app = one.state.lineage, one.candidates[0].app
    want = dict.fromkeys(lineage, START)
    steps = one.consumer.encode(lineage, one.checkpoint(), want, app, {shard_id(1)})
    assert not isinstance(steps, Cannot)
    (log,) = [i for i in after(one.images, steps) if i.key == "offsets/1"]
    places = json.loads(log.attributes["text"]["S"].split("\n")[2])
    assert places[shard_id(1)]["iteratorType"] == "LATEST"


def test_a_shard_that_every_batch_has_at_the_tip_was_read_by_nobody() -> None:
    """awslabs 0f4c005 stores LATEST for it: nothing was read since the first batch was planned."""
    edited = Edited("s1", HEAD)
    edited.plan(0, {0: Position("LATEST")})
    edited.end(0, {0: Position("LATEST")})
    span = start(case(edited))[0][shard_id(0)]
    assert span.lo.by_time and span.basis is Basis.INFERRED


@pytest.mark.parametrize("committed", [False, True])
def test_a_shard_that_somebody_put_at_the_tip_was_read_up_to_its_place_before(
    committed: bool,
) -> None:
    """Batch 0 stored that place; a batch at LATEST skips what follows it (ShardSyncer). Where two
    newer batches are kept, its log is not looked at, and its start is all that is known."""
    edited = Edited("s1", HEAD)
    edited.plan(1, {0: Position("LATEST")})
    if committed:
        edited.end(1, {0: Position("LATEST")})
        edited.commit(1)
    lo = START if committed else at_number(edited.read.value)
    assert start(case(edited))[0][shard_id(0)].lo == lo


def test_a_shard_that_no_earlier_batch_names_is_unread_although_it_was_put_at_the_tip() -> None:
    edited = Edited("s1", HEAD)
    edited.plan(1, {2: Position("LATEST")})
    assert start(case(edited))[0][shard_id(2)].lo == START


def test_an_end_does_not_hide_that_a_shard_was_begun_after_its_creation() -> None:
    edited = Edited("s1", QUBOLE)
    since = Position("AT_TIMESTAMP", str((edited.recorded.stream.created + 60) * 1000))
    edited.plan(0, {1: BEGINNING})
    edited.drop(f"{edited.log}/0/")
    edited.end(0, {1: BEGINNING})
    edited.plan(1, {0: since, 1: BEGINNING})
    edited.end(1, {0: END, 1: BEGINNING})
    edited.commit(1)
    fate = start(case(edited))[1][shard_id(0)]
    assert fate.cause is Cause.HEAD_PASSED and "read to its end; begun at" in fate.why


def test_an_older_shard_that_no_batch_names_may_have_been_left_out() -> None:
    edited = Edited("s1", QUBOLE)
    edited.plan(0, {1: BEGINNING})
    edited.drop(f"{edited.log}/0/")
    edited.end(0, {1: BEGINNING})
    head = edited.files["offsets/0"].attributes["text"]["S"].split("\n")
    times = json.loads(head[1]) | {"batchTimestampMs": (edited.recorded.stream.created + 30) * 1000}
    edited.put("offsets/0", "\n".join([head[0], json.dumps(times), head[2]]))
    span = start(case(edited))[0][shard_id(0)]
    assert (span.lo, span.hi) == (START, DONE) and "and not in it" in span.why
