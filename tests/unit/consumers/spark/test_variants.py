"""What the three builds make of checkpoints that were edited in other ways.

Expectations are the rows of "runs on the connectors' own jars, November 2026": variants on s1 (one
split, the parent 6 records behind, batch 0 committed), u1 (the batch after it died in the sink) and
s4 (the parent expired). "6+6" there means two batches: here, that all of it comes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_SEQUENCE_NUMBER,
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
from tests.support.spark_recorded import DIES, FOLDERS, HEAD, QUBOLE, V1, Recorded, delivered

ALL = {0: list(range(4, 10)), 1: [0, 1, 2], 2: [0, 1, 2]}
CHILDREN = {1: [0, 1, 2], 2: [0, 1, 2]}
BEGINNING = Position(TRIM_HORIZON)
END = Position(SHARD_END)
Places = Mapping[int, Position]
Edit = Callable[["Edited"], None]


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

    def came(self) -> dict[int, list[int]] | str:
        return delivered(self.recorded, self.recorded.case(list(self.files.values())))


def appended(edited: Edited) -> None:
    edited.plan(1, edited.starts())


def with_a_log_of_starts(edited: Edited) -> None:
    edited.plan(1, edited.starts())
    edited.end(1, edited.starts())


def with_the_old_batch_id(edited: Edited) -> None:
    edited.plan(1, edited.starts(), batch_id=0)


def only_the_parent(edited: Edited) -> None:
    edited.plan(1, {0: edited.read})


def only_the_children(edited: Edited) -> None:
    edited.plan(1, {1: BEGINNING, 2: BEGINNING})


def committed_without_a_log(edited: Edited) -> None:
    edited.plan(1, edited.starts())
    edited.commit(1)


def committed_with_a_log(edited: Edited) -> None:
    edited.plan(1, edited.starts())
    edited.end(1, edited.starts())
    edited.commit(1)


def in_place_with_its_log(edited: Edited) -> None:
    edited.plan(0, edited.starts())
    edited.end(0, edited.starts())


def at_the_first_lost_record(edited: Edited) -> None:
    number = edited.read.value
    following = str(int(number) + (1 << 80))  # the next index; see the layout of the numbers
    edited.plan(1, edited.starts() | {0: Position(AT_SEQUENCE_NUMBER, following)})


def behind_its_end(edited: Edited) -> None:
    end = edited.recorded.lineage[shard_id(0)].end
    assert end is not None
    edited.plan(1, edited.starts() | {0: Position(AFTER_SEQUENCE_NUMBER, end)})


def a_childs_with_the_parents_number(edited: Edited) -> None:
    edited.plan(1, edited.starts() | {1: edited.read})


def an_unknown_shard(edited: Edited) -> None:
    edited.plan(1, edited.starts() | {77: BEGINNING})


def a_stale_log(edited: Edited) -> None:
    edited.plan(1, edited.starts())
    edited.end(1, {0: END})


def a_stray_in_the_old_log(edited: Edited) -> None:
    edited.plan(1, edited.starts())
    edited.put(f"{edited.log}/0/README", "mine")


def a_stray_in_the_log_that_counts(edited: Edited) -> None:
    edited.put(f"{edited.log}/0/README", "mine")


def without_its_log(edited: Edited) -> None:
    edited.drop(f"{edited.log}/0/")
    edited.end(7, edited.starts())


LOST: dict[int, list[int]] = CHILDREN
VARIANTS: list[tuple[Edit, object, object, object]] = [
    # on s1             qubole, awslabs 1.4.2, awslabs 0f4c005
    (appended, ALL, ALL, ALL),
    (with_a_log_of_starts, ALL, ALL, ALL),
    (with_the_old_batch_id, ALL, ALL, ALL),
    (only_the_parent, ALL, ALL, ALL),
    (only_the_children, LOST, LOST, LOST),
    (committed_without_a_log, DIES, DIES, DIES),
    (committed_with_a_log, ALL, ALL, LOST),
    (in_place_with_its_log, ALL, ALL, LOST),
    (at_the_first_lost_record, ALL, ALL, ALL),
    (behind_its_end, DIES, DIES, DIES),
    (a_childs_with_the_parents_number, DIES, DIES, DIES),
    (an_unknown_shard, DIES, DIES, ALL),
    (a_stale_log, ALL, ALL, ALL),
    (a_stray_in_the_old_log, ALL, ALL, ALL),
    (a_stray_in_the_log_that_counts, DIES, DIES, DIES),
    (without_its_log, DIES, DIES, DIES),
]


@pytest.mark.parametrize("release", [QUBOLE, V1, HEAD])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one[0].__name__)
def test_an_edited_checkpoint_delivers_what_it_did(
    variant: tuple[Edit, object, object, object], release: str
) -> None:
    edit, *cells = variant
    edited = Edited("s1", release)
    edit(edited)
    assert edited.came() == cells[[QUBOLE, V1, HEAD].index(release)]


def as_it_is(_edited: Edited) -> None:
    """Nothing is changed."""


def edited_and_wiped(edited: Edited) -> None:
    edited.plan(1, edited.starts())
    edited.drop(f"{edited.log}/1")


def edited_alone(edited: Edited) -> None:
    edited.plan(1, edited.starts())


def appended_over_it(edited: Edited) -> None:
    edited.plan(2, edited.starts())


def deleted(edited: Edited) -> None:
    edited.drop(f"{edited.log}/1")
    edited.drop("offsets/1")


def deleted_but_for_the_checksum(edited: Edited) -> None:
    crc = edited.files["offsets/1"].attributes["crc"]
    edited.drop("offsets/1")
    edited.files["offsets/1"] = Image("offsets/1", {"crc": crc})


UNFINISHED: list[tuple[Edit, object, object, object]] = [
    (as_it_is, ALL, ALL, LOST),
    (edited_and_wiped, ALL, ALL, ALL),
    (edited_alone, ALL, ALL, LOST),
    (appended_over_it, ALL, ALL, ALL),
    (deleted, ALL, ALL, LOST),
    (deleted_but_for_the_checksum, DIES, DIES, DIES),
]


@pytest.mark.parametrize("release", [QUBOLE, V1, HEAD])
@pytest.mark.parametrize("variant", UNFINISHED, ids=lambda one: one[0].__name__)
def test_an_uncommitted_batch_delivers_what_it_did(
    variant: tuple[Edit, object, object, object], release: str
) -> None:
    edit, *cells = variant
    edited = Edited("u1", release)
    edit(edited)
    assert edited.came() == cells[[QUBOLE, V1, HEAD].index(release)]


@pytest.mark.parametrize(("release", "cell"), [
    (QUBOLE, DIES), (V1, DIES), (HEAD, {1: [0, 1], 2: [0, 1]}),
])
def test_an_expired_shard_that_is_named_kills_all_but_one(release: str, cell: object) -> None:
    edited = Edited("s4", release)
    value = json.loads(edited.files[f"{edited.log}/0/{shard_id(0)}"].attributes["text"]["S"])
    parent = Position(value["iteratorType"], value["iteratorPosition"])
    edited.plan(1, {0: parent, 1: BEGINNING, 2: BEGINNING})
    assert edited.came() == cell




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
