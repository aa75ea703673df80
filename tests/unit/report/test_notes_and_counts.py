"""What a report tells beside its findings, which intervals it has counted, and from where a watched
consumer's standing shards are read."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Movement, Snapshot, Watched
from reshardctl.model import START, Delete, Probe, ShardId, Write, at_time, shard_id
from reshardctl.planning.decision import NoSafePlan, Nothing, Plan, Residual
from reshardctl.planning.effects import Effect, Harm
from reshardctl.report.changes import Action, Changed, by_position, mending
from reshardctl.report.counts import by_probes, interval_of, intervals
from reshardctl.report.forecast import places_to_watch
from reshardctl.report.report import Interrupted, RepairOptions, WayOut, make, places_to_probe
from reshardctl.report.scope import ScopeOptions
from tests.support.case import CASES as FILES
from tests.support.case import load
from tests.support.dialects import dialect_of
from tests.support.judging import images_of, lineage_of
from tests.unit.render.samples import CASES, report_of

SILENT = Probe(START, drained=False)
READ_AGAIN = Effect(Harm.REREAD, shard_id(1), certain=True)


def test_a_part_names_what_it_is_limited_to_and_what_its_plan_writes_besides():
    """2 needs the lease of 1, the other shard of its merge (the case file)."""
    whole = report_of("full-merge-ended-coparent-lost", "initial=LATEST&release=3.5.1")
    part = make(whole.snapshot, RepairOptions(scope=ScopeOptions(("2",))))
    limited, added = part.notes[:2]
    others = len(whole.findings) - len(part.findings)
    named = "1 other finding" if others == 1 else f"{others} other findings"
    assert limited == f"limited to --shards 2; {named} left out"
    assert added.startswith(f"{shard_id(1)} is written too, as a parent of {shard_id(2)}: ")


def test_a_read_that_met_neither_a_record_nor_an_end_is_told_and_counts_nothing():
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    probed = make(replace(report.snapshot, probes={shard_id(1): SILENT}), RepairOptions())
    assert any("neither a record nor an end in 1: nothing is concluded" in n for n in probed.notes)
    assert by_probes({shard_id(1): SILENT}) == {}


def test_what_is_left_alone_is_counted_and_a_missing_plan_has_nothing_to_count():
    lineage = report_of("a-both", "initial=LATEST&release=3.5.1").snapshot.lineage
    left = Nothing((Residual(shard_id(1), READ_AGAIN, "--accept reread=3h"),))
    assert [one.shard for one in intervals(lineage, (), left)] == [shard_id(1)]
    assert intervals(lineage, (), NoSafePlan("no row can hold it", ())) == []


def test_a_place_by_a_time_that_is_not_known_has_no_records_to_count():
    """No iterator of Kinesis begins there (GetShardIterator, AT_TIMESTAMP)."""
    assert interval_of(replace(READ_AGAIN, since=START)) is not None
    assert interval_of(replace(READ_AGAIN, since=at_time(None))) is None


def test_what_has_expired_cannot_be_counted_any_more():
    assert interval_of(replace(READ_AGAIN, since=START, gone=True)) is None


STILL = Movement("w1", renewed=True, moved=False)
A, B = shard_id(0), shard_id(1)


def snapshot(name: str, moves: dict[ShardId, Movement], options: str = "") -> Snapshot:
    case = CASES[name]
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    return Snapshot(
        parse(f"kcl://app?{options or 'initial=TRIM_HORIZON'}"), lineage,
        tuple(images_of(case.items())), {}, float(case.now), watched=Watched(0, 60, "", moves),
    )


@pytest.mark.parametrize(("one", "read"), [
    (STILL, True), (replace(STILL, moved=True), False), (replace(STILL, finished=True), False),
    (replace(STILL, renewed=False), True),
])  # fmt: skip
def test_only_what_stands_still_is_read(one: Movement, read: bool) -> None:
    places = dict(places_to_watch(snapshot("healthy-roots", {A: STILL, B: one})))
    assert (B in places) is read
    number = CASES["healthy-roots"].number_of("s0-1")
    assert places[A].text == number, "from its position on"


def test_nothing_twice() -> None:
    taken = snapshot("healthy-roots", {A: STILL, B: STILL})
    (_, at), _ = places_to_watch(taken)
    again = replace(taken, probes={A: Probe(at, True), B: Probe(START, True)})
    assert [shard for shard, _ in places_to_watch(again)] == [B], "A was read from there already"


def test_no_place_at_the_tip_and_none_that_is_gone() -> None:
    moves = {A: STILL, B: STILL, shard_id(77): STILL}
    assert places_to_watch(snapshot("healthy-latest-roots", moves, "initial=LATEST")) == []


def test_nothing_where_nobody_runs_or_nobody_watched() -> None:
    silent = snapshot("healthy-roots", {A: replace(STILL, renewed=False)})
    assert places_to_watch(silent) == []
    assert places_to_watch(replace(silent, watched=None)) == []


def test_an_interrupted_fix_is_told_with_the_commands_that_go_on():
    """No command is at the end of the sentence, where a full stop would be copied with it."""
    resume = WayOut("finishes it", ("fix", "--resume", "a b.jsonl"))
    ways = (resume, WayOut("takes it back", ("undo",)))
    assert Interrupted("a fix was interrupted", ways).note == (
        "a fix was interrupted: reshardctl fix --resume 'a b.jsonl' finishes it, "
        "and reshardctl undo takes it back"
    )
    assert Interrupted("somebody writes it").note == "somebody writes it"


def test_a_write_that_leaves_a_shard_out_of_order_mends_nothing_of_that():
    """The page of RSH201: no position changes what reads all shards at once."""
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    assert isinstance(report.decision, Plan)
    (lost,) = report.findings
    mixed = Effect(Harm.DISORDERED, lost.shards[0], certain=True, inherent=True)
    disorder = replace(lost, code="RSH201", effects=(mixed,), shards=lost.shards[:1])
    report = replace(report, decision=replace(report.decision, after=((mixed,),)))
    assert not mending(report, disorder).writes and mending(report, lost).writes
    both = replace(disorder, effects=(mixed, replace(mixed, harm=Harm.STALLED)))
    assert mending(report, both).writes, "it mends the other harm"


def test_a_bounded_read_begins_in_shards_that_a_crash_comes_from():
    """1 is open and read on from its number; without a crash nothing is in doubt there."""
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    (judged,) = report.judged
    crash = Effect(Harm.CRASHES, None, certain=True, by=(B,))
    crashed = replace(report, judged=(replace(judged, effects=(*judged.effects, crash)),))
    before, after = (dict(places_to_probe(each)) for each in (report, crashed))
    assert B not in before and after.keys() == before.keys() | {B}


def test_files_and_lists_are_told_where_nothing_else_changes():
    file = Changed(A, Action.MOVE, "0, 1", "0, 1, 2", Write("list", Delete(), None, ""))
    many, position = replace(file, of_many=True), replace(file, shard=B)
    kept = replace(position, part=True, action=Action.KEEP)
    assert by_position([many]) == [many] and by_position([many, kept]) == [many]
    assert by_position([many, position]) == [position]


@pytest.mark.parametrize(("name", "lost"), [
    ("unread-gone-qubole", True), ("drained-gone-qubole", False),
])  # fmt: skip
def test_a_plan_that_ends_a_crash_says_what_has_expired_unread(name: str, lost: bool) -> None:
    """It writes the shard out of the log, and with it the only sign of the loss."""
    case = load(FILES / "spark" / f"{name}.toml")
    locator = parse("spark:/c?release=qubole-1.2.0_spark-3.0&startingPosition=TRIM_HORIZON")
    images = tuple(dialect_of("spark").images(case))
    listed = lineage_of(case.shards, case.stream["created"])
    report = make(Snapshot(locator, listed, images, {}, float(case.now)), RepairOptions())
    assert isinstance(report.decision, Plan)
    said = "0 is not listed any more: what was not read of it is lost, with this plan"
    assert any(note.startswith(said) for note in report.caveats) is lost
    (found,) = (one for one in report.findings if one.code == "RSH204")
    assert {e.shard for e in found.effects if e.gone} == ({A} if lost else set())
    assert ("records after its position may be gone already" in found.costs) is lost
    assert mending(report, found).mended
