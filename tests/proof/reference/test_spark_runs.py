"""The reference of the Spark connectors against runs on the connectors' own jars, November 2026.

Qubole 1.2.0_spark-3.0 on PySpark 3.5.9, awslabs 1.4.2 on 3.5.9 and awslabs 0f4c005 on 4.1.4 (where
said, 4.3.0), with the real AWS SDKs, restarted on the golden checkpoints as they are, repaired, and
edited. Every cell of the two tables of these runs is typed here: rows of each batch, and what was
lost, came twice in one start, or was read again. "" is what was not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest

from tests.proof.reference.spark import Run
from tests.proof.reference.spark_files import COMMIT, CONF, beside, put, remove
from tests.proof.reference.spark_offset import Position
from tests.support.spark_shapes import Shape, shape, shard_id

BUILDS = ("qubole-1.2.0_spark-3.0", "awslabs-1.4.2", "awslabs-head-0f4c005")
ZERO, ONE, TWO = map(shard_id, range(3))

SHAPES = {
    "s1": ("12 rows, ok", "12 rows, ok", "6 rows, LOST s0:4-9"),
    "s1x": ("2 rows, ok", "2 rows, ok", "2 rows, LOST s0:4-9"),
    "s2": ("2 rows, ok", "2 rows, ok", "2 rows, LOST s0:0-3"),
    "s3": (
        "1 rows, LOST s1:0-1, s2:0-1",
        "1 rows, LOST s1:0-1, s2:0-1",
        "0 rows, LOST s0:6, s1:0-1, s2:0-1",
    ),
    "s4": ("DIES", "4 rows, ok", "4 rows, ok"),
    "m1": ("6 rows, ok", "6 rows, ok", "3 rows, LOST s0:3-4, s1:3"),
    "t1": ("8 rows, ok", "8 rows, ok", "4 rows, LOST s0:4-5, s1:0-1"),
    "u1": ("12 rows, ok", "12 rows, ok", "6 rows, LOST s0:4-9"),
}
REPAIRED = {
    "s1": ("12 rows, ok", "12 rows, ok", "12 rows, ok"),
    "s1x": ("8 rows, re-read s0:4-9", "8 rows, re-read s0:4-9", "8 rows, ok"),
    "s2": ("6 rows, re-read s0:0-3", "6 rows, re-read s0:0-3", "6 rows, ok"),
    "s3": ("5 rows, ok", "5 rows, ok", "5 rows, ok"),
    "s4": ("4 rows, ok", "4 rows, ok", "4 rows, ok"),
    "m1": ("6 rows, ok", "6 rows, ok", "6 rows, ok"),
    "t1": ("8 rows, ok", "8 rows, ok", "8 rows, ok"),
    "u1": ("12 rows, ok", "12 rows, ok", "12 rows, ok"),
}


def cells(table: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str, str]]:
    """(row, build, outcome) of every cell that was run."""
    return [
        (row, build, told)
        for row, line in table.items()
        for build, told in zip(BUILDS, line, strict=True)
        if told
    ]


@pytest.mark.parametrize("together", [True, False], ids=["end-with-records", "end-after"])
@pytest.mark.parametrize(("scenario", "build", "told"), cells(SHAPES))
def test_a_restart_as_it_is(
    scenario: str, build: str, told: str, together: bool, tmp_path: Path
) -> None:
    stood = shape(scenario, build, tmp_path, end_with_last_records=together)
    assert stood.told(stood.start()) == told


@pytest.mark.parametrize("together", [True, False], ids=["end-with-records", "end-after"])
@pytest.mark.parametrize(("scenario", "build", "told"), cells(REPAIRED))
def test_a_restart_after_the_repair(
    scenario: str, build: str, told: str, together: bool, tmp_path: Path
) -> None:
    stood = shape(scenario, build, tmp_path, end_with_last_records=together)
    recommended(stood)
    assert stood.told(stood.start()) == told


def recommended(stood: Shape) -> None:
    """In place with the log wiped where the newest batch is uncommitted, else appended."""
    if stood.truth["repair"].get("at") == "newest":
        stood.in_place(wipe=True)
    else:
        stood.append()


# Edits: each does what the table's row says, and returns the starts where one is not enough.

Edit = Callable[[Shape], "tuple[Run, ...] | None"]


def no_crc(stood: Shape) -> None:
    beside(stood.offsets / str(stood.append())).unlink()


def stale_crc(stood: Shape) -> None:
    path = beside(stood.offsets / str(stood.append()))
    path.write_bytes(path.read_bytes()[:-4] + b"\0\0\0\0")


def log_too(stood: Shape) -> None:
    stood.enter(stood.append(), stood.repair().values())


def committed_without_log(stood: Shape) -> None:
    put(stood.root / "commits" / str(stood.append()), COMMIT)


def committed_with_log(stood: Shape) -> None:
    log_too(stood)
    put(stood.root / "commits" / str(stood.newest), COMMIT)


def uncommitted(stood: Shape) -> None:
    remove(stood.root / "commits" / str(stood.newest))
    stood.append()


def without_metadata(stood: Shape) -> None:
    stood.append()
    remove(stood.root / "metadata")


def with_another_id(stood: Shape) -> None:
    stood.append()
    put(stood.root / "metadata", '{"id":"00000000-0000-4000-8000-000000000000"}')


def both_in_place(stood: Shape) -> None:
    stood.in_place(wipe=False)
    stood.enter(stood.newest, stood.repair().values())


def with_place(shard: str, kind: str, value: Callable[[Shape], str]) -> Edit:
    """The repair with one shard at another place."""

    def edit(stood: Shape) -> None:
        stood.append({**stood.repair(), shard: Position(shard, kind, value(stood))})

    return edit


def number(shard: int, index: int) -> Callable[[Shape], str]:
    """The number of a record."""
    return lambda stood: str(stood.fake.stream("st").shards[shard].records[index].number)


def stale_log(stood: Shape) -> None:
    stood.enter(stood.append(), [Position(ZERO, "SHARD_END")])


def backup(stood: Shape) -> None:
    batch = stood.append()
    put(stood.offsets / f"{batch}.orig", "something else")


def stray(stood: Shape) -> None:
    put(stood.log(stood.newest) / "stray", "not an entry")
    stood.append()


def both_in_place_and_a_child(stood: Shape) -> None:
    stood.in_place(wipe=False)
    stood.enter(0, [Position(ONE, "TRIM_HORIZON")])


def newline(stood: Shape) -> None:
    path = stood.offsets / str(stood.newest)
    put(path, path.read_text(encoding="utf-8") + "\n")


def crc_alone(stood: Shape) -> None:
    put(stood.offsets / "1", "gone")
    (stood.offsets / "1").unlink()


def crc_alone_then_appended(stood: Shape) -> None:
    crc_alone(stood)
    stood.append()


def again(stood: Shape) -> tuple[Run, ...]:
    stood.append()
    first = stood.start()
    stood.append()
    return first, stood.start()


def as_numbers(stood: Shape) -> None:
    batch = stood.newest + 1
    line = stood.line(batch, stood.repair()).replace('"-1"', "-1").replace('"true"', "true")
    stood.write(batch, line)


def deleted(stood: Shape) -> None:
    newest = stood.newest
    log = stood.log(newest)
    stood.drop(newest)
    for path in [*log.iterdir()]:
        path.unlink()
    log.rmdir()


def deleted_but_crc(stood: Shape) -> None:
    (stood.offsets / str(stood.newest)).unlink()


def deleted_and_appended(stood: Shape) -> None:
    deleted(stood)
    stood.append()


def avoiding(edit: Edit) -> Edit:
    """The same with avoidEmptyBatches on, which it is by default on awslabs."""

    def both(stood: Shape) -> None:
        stood.options = replace(stood.options, avoids=True)
        edit(stood)

    return both


def limited(stood: Shape) -> None:
    stood.append()
    stood.options = replace(stood.options, limit=2)


def parents_first(stood: Shape) -> tuple[Run, ...]:
    stood.append({ZERO: stood.repair()[ZERO]})
    return (stood.start(triggers=1),)


def then_the_children(stood: Shape) -> tuple[Run, ...]:
    first = parents_first(stood)
    stood.append({s: position for s, position in stood.repair().items() if s != ZERO})
    return *first, stood.start()


def and_no_second_step(stood: Shape) -> tuple[Run, ...]:
    return *parents_first(stood), stood.start()


def appending(*shards: str) -> Edit:
    """The repair of these shards alone."""

    def edit(stood: Shape) -> None:
        stood.append({shard: stood.repair()[shard] for shard in shards})

    return edit


def append(**how: object) -> Edit:
    """The repair, done in another way."""

    def edit(stood: Shape) -> None:
        stood.append(**how)  # type: ignore[arg-type]

    return edit


def end_of(shard: int) -> Callable[[Shape], str]:
    """The EndingSequenceNumber of a shard."""
    return lambda stood: str(stood.fake.stream("st").shards[shard].ending)


OK = "12 rows, ok"
HALVES = "6+6 rows, ok"
LOST = "6 rows, LOST s0:4-9"
TWICE = "12+12 rows, TWICE s0:4-9, s1:0-2, s2:0-2"
S4_TWICE = "4+4 rows, TWICE s1:0-1, s2:0-1"

EDITS: dict[str, tuple[str, Edit, tuple[str, str, str]]] = {
    "no crc": ("s1", no_crc, (OK, "", OK)),
    "stale crc": ("s1", stale_crc, (OK, "", OK)),
    "log N+1 written too": ("s1", log_too, (OK, HALVES, HALVES)),
    "line 2 empty": ("s1", append(metadata=""), ("12 rows, then dies", "", "12 rows, then dies")),
    "line 2 without conf": ("s1", append(metadata=CONF), (OK, "", OK)),
    "metadata.batchId = N": ("s1", append(batch_id=0), (OK, HALVES, HALVES)),
    "metadata.batchId = N+2": ("s1", append(batch_id=2), (OK, "", OK)),
    "only the parent listed": ("s1", appending(ZERO), (HALVES, HALVES, HALVES)),
    "only the children listed": ("s1", appending(ONE, TWO), (LOST, LOST, LOST)),
    "commits/N removed": ("s1", uncommitted, (OK, "", OK)),
    "metadata removed": ("s1", without_metadata, (OK, "", OK)),
    "metadata with another id": ("s1", with_another_id, (OK, "", OK)),
    "N+1 committed, no log": ("s1", committed_without_log, ("DIES", "DIES", "DIES")),
    "N+1 committed, with log": ("s1", committed_with_log, (OK, OK, LOST)),
    "offsets/N in place only": ("s1", lambda stood: stood.in_place(wipe=False), (OK, OK, LOST)),
    "offsets/N and log N in place": ("s1", both_in_place, (OK, OK, LOST)),
    "offsets/N in place, a child in log N": ("s1", both_in_place_and_a_child, (OK, OK, LOST)),
    "offsets/N with a newline": ("s1", newline, ("", OK, "")),
    "AT the first lost record": (
        "s1",
        with_place(ZERO, "AT_SEQUENCE_NUMBER", number(0, 4)),
        (OK, OK, OK),
    ),
    "parent as SHARD_END": ("s1", with_place(ZERO, "SHARD_END", lambda _: ""), (LOST, LOST, LOST)),
    "parent AFTER its EndingSequenceNumber": (
        "s1",
        with_place(ZERO, "AFTER_SEQUENCE_NUMBER", end_of(0)),
        ("DIES", "DIES", "DIES"),
    ),
    "child AFTER the parent's number": (
        "s1",
        with_place(ONE, "AFTER_SEQUENCE_NUMBER", number(0, 9)),
        ("DIES", "DIES", "DIES"),
    ),
    "unknown shard listed": (
        "s1",
        with_place(shard_id(77), "TRIM_HORIZON", lambda _: ""),
        ("DIES", "DIES", OK),
    ),
    "stale log N+1 left": ("s1", stale_log, (OK, HALVES, HALVES)),
    "backup offsets/1.orig": ("s1", backup, (OK, "", OK)),
    "stray file in log N": ("s1", stray, (OK, OK, OK)),
    "stray file in log N, nothing appended": (
        "s1",
        lambda stood: put(stood.log(0) / "stray", "no entry"),
        ("DIES", "DIES", "DIES"),
    ),
    "log N missing": ("s1", lambda stood: rmtree(stood.log(0)), ("DIES", "DIES", "DIES")),
    "offsets/N+1 gone, crc left": ("s1", crc_alone, ("DIES", "DIES", "DIES")),
    "offsets/N+1 gone, crc left, N+1 appended": ("s1", crc_alone_then_appended, (OK, OK, OK)),
    "twice the same repair": ("s1", again, (TWICE, "", TWICE)),
    "values as numbers": ("s1", as_numbers, ("", "DIES", "DIES")),
    "u1 as it is": ("u1", lambda _: None, (OK, OK, LOST)),
    "u1 in place, log wiped": ("u1", lambda stood: stood.in_place(wipe=True), (OK, OK, OK)),
    "u1 in place, log left": ("u1", lambda stood: stood.in_place(wipe=False), (OK, OK, LOST)),
    "u1 N+1 appended": ("u1", append(), (OK, OK, OK)),
    "u1 offsets/N and log N deleted": ("u1", deleted, (OK, OK, LOST)),
    "u1 offsets/N deleted, crc left": ("u1", deleted_but_crc, ("DIES", "DIES", "DIES")),
    "u1 deleted, then appended": ("u1", deleted_and_appended, (OK, OK, OK)),
    "s4 expired parent listed too": (
        "s4",
        with_place(ZERO, "TRIM_HORIZON", lambda _: ""),
        ("DIES", "DIES", "4 rows, ok"),
    ),
    "s4 connector's order": ("s4", avoiding(append()), ("4 rows, ok",) * 3),
    "s4 another order": ("s4", avoiding(append(sort=True)), (S4_TWICE,) * 3),
    "s1x small fetch limit": (
        "s1x",
        limited,
        ("8 rows, re-read s0:4-9", "4+2+2 rows, re-read s0:4-9", "4 rows, LOST s0:6-9"),
    ),
    "s1x parents first, then the children": (
        "s1x",
        then_the_children,
        ("6+2 rows, re-read s0:4-9", "6+2 rows, re-read s0:4-9", "6+2 rows, ok"),
    ),
    "s1x parents first, no second step": (
        "s1x",
        and_no_second_step,
        (
            "6+8 rows, re-read s0:4-9, s1:0-2, s2:0-2",
            "6+8 rows, re-read s0:4-9, s1:0-2, s2:0-2",
            "6+8 rows, re-read s1:0-2, s2:0-2",
        ),
    ),
}


@pytest.mark.parametrize(
    ("row", "build", "told"), cells({row: line for row, (_, _, line) in EDITS.items()})
)
def test_an_edit(row: str, build: str, told: str, tmp_path: Path) -> None:
    scenario, edit, _ = EDITS[row]
    stood = shape(scenario, build, tmp_path)
    runs = edit(stood) or (stood.start(),)
    assert stood.told(*runs) == told
