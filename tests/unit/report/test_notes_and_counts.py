"""What a report tells beside its findings, and which intervals it has counted."""

from __future__ import annotations

from msgspec.structs import replace

from reshardctl.model import START, Probe, at_time, shard_id
from reshardctl.planning.decision import NoSafePlan, Nothing, Residual
from reshardctl.planning.effects import Effect, Harm
from reshardctl.report.counts import by_probes, interval_of, intervals
from reshardctl.report.report import RepairOptions, make
from reshardctl.report.scope import ScopeOptions
from tests.unit.render.samples import report_of

SILENT = Probe(START, drained=False)
READ_AGAIN = Effect(Harm.REREAD, shard_id(1), certain=True)


def test_a_part_names_what_it_is_limited_to_and_what_its_plan_writes_besides():
    """2 needs the lease of 1, the other shard of its merge (the case file)."""
    whole = report_of("full-merge-ended-coparent-lost", "initial=LATEST&release=3.5.1")
    part = make(whole.snapshot, RepairOptions(scope=ScopeOptions(("2",))))
    limited, added = part.notes[:2]
    assert limited.startswith("limited to --shards 2")
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
