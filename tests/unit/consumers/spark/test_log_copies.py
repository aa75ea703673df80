"""Files beside the entries of the connector's log: every file counts as the entry it speaks of.

HDFSMetadataCommitter.get of Qubole 1.2.0 and awslabs 1.0.0 to main reads all that listStatus gives;
of several positions of one shard the last listed stays (`toMap`; ShardOffsets' map). The reference
consumer lists by name, as HDFS and S3 do; a local disk lists in any order.
"""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reshardctl.model import AnomalyKind, Cause, Image, Span, WillRead, after, shard_id
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Case, Nothing, Plan, decide, processed_frontier
from tests.support.spark_recorded import FOLDERS, HEAD, QUBOLE, Recorded, judged

SHARD = shard_id(0)
PLACES = {"awslabs-1.4.2": "shard-source", HEAD: "shard-source", QUBOLE: "shard-commit"}
SECONDS = 2 << 36
"""Two seconds of a sequence number's time."""
NAMES = (f"{SHARD}.bak", f"{SHARD}~", "20261127", f".{SHARD}.swp")


def entry_of(images: list[Image], folder: str) -> str:
    return next(i.attributes["text"]["S"] for i in images if i.key == f"{folder}/{SHARD}")


def case(release: str, name: str, moved: int | None) -> Case:
    """s1, committed, with a copy of shard 0's entry; moved: how many numbers further it stands."""
    recorded = Recorded("s1", release, FOLDERS[release])
    folder = f"sources/0/{PLACES[release]}/0"
    said = json.loads(entry_of(recorded.images, folder))
    if moved is not None:
        said["iteratorPosition"] = str(int(said["iteratorPosition"]) + moved)
    text = json.dumps(said, separators=(",", ":"))
    rows = [*recorded.images, Image(f"{folder}/{name}", {"text": {"S": text}})]
    return recorded.case(sorted(rows, key=lambda image: image.key))


def start(one: Case):
    return processed_frontier(one)[SHARD], judged(one)


@pytest.mark.parametrize("release", PLACES)
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_that_says_the_same_changes_nothing(release: str, name: str) -> None:
    one, plain = case(release, name, None), Recorded("s1", release, FOLDERS[release]).case()
    (span, then), (before, without) = start(one), start(plain)
    assert then.simulation.crash is None
    assert (span, then.simulation.fates) == (before, without.simulation.fates)
    assert type(decide(one)) is type(decide(plain))
    remarks = {a.key.rpartition("/")[2]: a for a in one.checkpoint().anomalies}
    assert remarks[name].kind is AnomalyKind.FOREIGN_ENTRY


@pytest.mark.parametrize("release", ["awslabs-1.4.2", QUBOLE])
@pytest.mark.parametrize("moved", [-SECONDS, SECONDS])
def test_where_it_says_something_else_either_may_count(release: str, moved: int) -> None:
    one = case(release, NAMES[0], moved)
    span, then = start(one)
    fate = then.simulation.fates[SHARD]
    assert isinstance(fate, WillRead) and "copy" in fate.why
    assert not span.exact and (span.lo, span.hi) == (fate.at.lo, fate.at.hi)
    assert isinstance(span, Span) and abs(span.hi.number - span.lo.number) == abs(moved)
    harms = {e.harm: e.certain for e in then.effects if e.shard == SHARD}
    assert harms == {Harm.SKIPPED: False, Harm.REREAD: False}


@pytest.mark.parametrize("release", ["awslabs-1.4.2", QUBOLE])
def test_a_copy_with_a_number_that_kinesis_refuses_may_crash_it(release: str) -> None:
    crash = start(case(release, NAMES[0], 1 << 150))[1].simulation.crash
    assert crash is not None and not crash.certain and crash.cause is Cause.FOREIGN_NUMBER


def test_a_copy_that_spells_the_same_place_otherwise_changes_nothing_but_what_is_said() -> None:
    """awslabs: after the last part of a record is after the record (KinesisPosition)."""
    one = case("awslabs-1.4.2", NAMES[0], None)
    rows = [
        replace(i, attributes={"text": {"S": i.attributes["text"]["S"].replace(
            '"subSequenceNumber":-1', '"subSequenceNumber":3')}}) if i.key.endswith(".bak") else i
        for i in one.images
    ]
    fate = start(replace(one, images=rows))[1].simulation.fates[SHARD]
    assert isinstance(fate, WillRead) and fate.at.exact and "once more where a copy" in fate.why


@pytest.mark.parametrize("release", PLACES)
@pytest.mark.parametrize("moved", [-SECONDS, SECONDS])
def test_a_planned_batch_makes_it_harmless(release: str, moved: int) -> None:
    one = case(release, NAMES[0], moved)
    decision = decide(one)
    assert isinstance(decision, Plan)
    assert not any(write.key.endswith(".bak") for s in decision.steps for write in s.writes)
    fixed = replace(one, images=after(one.images, decision.steps))
    fate = start(fixed)[1].simulation.fates[SHARD]
    assert isinstance(fate, WillRead) and fate.at.exact
    assert fate.at.lo == start(one)[0].lo, "nothing is skipped, whichever of the two is true"
    assert isinstance(decide(fixed), Nothing)


def test_no_entry_is_still_a_crash() -> None:
    recorded = Recorded("s1", QUBOLE, FOLDERS[QUBOLE])
    stray = Image("sources/0/shard-commit/0/notes.txt", {"text": {"S": "hello"}})
    one = recorded.case([*recorded.images, stray])
    crash = start(one)[1].simulation.crash
    assert crash is not None and crash.certain and "notes.txt" in crash.why


def test_an_empty_entry_crashes_it_whatever_lies_beside() -> None:
    one = case(QUBOLE, NAMES[0], None)
    torn = [replace(i, attributes={"text": {"S": ""}}) if i.key.endswith(SHARD) else i
            for i in one.images]
    crash = start(replace(one, images=torn))[1].simulation.crash
    assert crash is not None and crash.certain
