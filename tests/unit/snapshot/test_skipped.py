"""Files of what a start skips: what is none, by its entry and the reason.

tests/cli/test_skipped.py has what such a file holds.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.model import DONE, START, Cut, Rank, at_number, shard_id
from reshardctl.model.cuts import PARTS
from reshardctl.report.report import RepairOptions, make
from reshardctl.snapshot.skipped import json_text, parsed, part_of, skipped_of
from tests.support.case import CASES, load
from tests.support.dialects import kinsumer
from tests.support.judging import asked, lineage_of, resolved

FIRST = 49680412033094866848527506851837432377108706273800486914
NOTHING = {"kind": None, "number": None, "sub_number": None, "time": None}
BEGIN: dict[str, Any] = {**NOTHING, "kind": "TRIM_HORIZON"}
END: dict[str, Any] = {**NOTHING, "kind": "SHARD_END"}
AFTER: dict[str, Any] = {**NOTHING, "kind": "AFTER_SEQUENCE_NUMBER", "number": str(FIRST)}


def text(after: Any = BEGIN, until: Any = END, **more: Any) -> str:
    entry = {"shard": "shardId-000000000001", "after": after, "until": until, "certain": True}
    return json.dumps({
        "schema": "reshardctl/skipped/1", "taken": "2026-11-21T00:00:00Z", "consumer": "kcl://app",
        "stream": {"arn": "arn:aws:kinesis:us-east-1:123456789012:stream/orders",
                   "created": "2026-11-21T00:00:00Z"},
        "intervals": [entry], **more,
    })  # fmt: skip


@pytest.mark.parametrize(("after", "since"), [
    (BEGIN, START), (AFTER, at_number(str(FIRST), PARTS)),
    ({**AFTER, "sub_number": 3}, at_number(str(FIRST), 3)),
])  # fmt: skip
def test_an_interval(after: Any, since: object) -> None:
    """Without a sub-sequence number it lies between two records, whatever the first one holds."""
    (part,) = parsed(text(after), "s.json").intervals
    assert (part.records.shard, part.certain) == (shard_id(1), True)
    assert (part.records.since, part.records.until) == (since, DONE)


def test_a_sub_sequence_number_that_no_record_reaches_is_the_end_of_its_record() -> None:
    """`checkpoint(String, long)` of KCL's checkpointer takes a long that is not below 0."""
    read = parsed(text(), "s.json")
    (part,) = read.intervals
    far = replace(part, records=replace(part.records, since=at_number(str(FIRST), PARTS + 1)))
    (entry,) = json.loads(json_text(replace(read, intervals=(far,))))["intervals"]
    assert entry["after"] == AFTER


LATER: dict[str, Any] = {**AFTER, "number": str(FIRST + (1 << 80))}


@pytest.mark.parametrize(("after", "until", "fits"), [
    (AFTER, LATER, True), (LATER, END, True), (BEGIN, LATER, False), (BEGIN, AFTER, False),
], ids=["touches it", "a gap", "overlaps it", "comes before it"])
def test_a_second_interval_of_a_shard_begins_where_the_first_ends_or_later(after, until, fits):
    """Records of both would come twice."""
    whole = json.loads(text(BEGIN, AFTER))
    whole["intervals"] += json.loads(text(after, until))["intervals"]
    if fits:
        assert len(parsed(json.dumps(whole), "s.json").intervals) == 2
        return
    with pytest.raises(UsageError, match=r"intervals\[1\]: it overlaps an earlier one"):
        parsed(json.dumps(whole), "s.json")


@pytest.mark.parametrize(("cut", "part"), [
    (START, None), (DONE, None), (at_number("7", PARTS), None),
    (at_number("7"), 0), (at_number("7", 1000), 1000),
    (at_number("7", -PARTS), -1), (at_number("7", 1 - PARTS), 0), (at_number("7", 4 - PARTS), 3),
])  # fmt: skip
def test_the_last_user_record_before_a_cut(cut: Cut, part: int | None) -> None:
    """A negative sub: all records before that number are processed, and at most a part of it."""
    assert part_of(cut) == part


@pytest.mark.parametrize(("made", "words"), [
    (text(END, BEGIN), "s.json: intervals[0]: it ends before it begins"),
    (text(AFTER, AFTER), "it ends before it begins"),
    (text({**AFTER, "sub_number": "3"}), "intervals[0].after.sub_number: not a whole number"),
    (text({**AFTER, "sub_number": False}), "intervals[0].after.sub_number: not a whole number"),
    *((text({**AFTER, name: 7}), f"intervals[0].after.{name}: not a string")
      for name in ("kind", "number", "time")),
    (text(until=NOTHING), "intervals[0].until.kind: no place is named"),
])  # fmt: skip
def test_what_is_no_interval(made: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(made, "s.json")
    assert words in caught.value.what


def test_a_consumer_whose_positions_lie_between_records_skips_whole_ones() -> None:
    """kinsumer's case a, moved to its latest records: each interval ends with a whole record."""
    case = load(CASES / "kinsumer" / "a.toml")
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    rows = tuple(kinsumer.images(case))
    locator = parse("kinsumer://app?initial=TRIM_HORIZON&release=snowplow-1.7")
    policy = resolved(case, asked(case, "latest"), lineage)
    report = make(
        Snapshot(locator, lineage, rows, {}, float(case.now)), RepairOptions(policy=policy)
    )
    found = skipped_of(report, getattr(report.decision, "steps", ()))
    entries = json.loads(json_text(found))["intervals"]
    assert [(e["until"]["number"], e["until"]["sub_number"]) for e in entries] == [
        (None, None), *((case.records[shard_id(n)][-1][0], None) for n in (1, 2)),
    ]  # fmt: skip
    again = parsed(json_text(found), "s.json").intervals
    assert [part.records for part in again] == [part.records for part in found.intervals]
    assert found.intervals[0].records.since.rank is Rank.INSIDE
