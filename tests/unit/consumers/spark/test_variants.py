"""What the three builds make of checkpoints that were edited in other ways.

Expectations are the rows of "runs on the connectors' own jars, November 2026": variants on s1 (one
split, the parent 6 records behind, batch 0 committed), u1 (the batch after it died in the sink) and
s4 (the parent expired). "6+6" there means two batches: here, that all of it comes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_SEQUENCE_NUMBER,
    SHARD_END,
    TRIM_HORIZON,
    Position,
)
from reshardctl.model import Image, shard_id
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


