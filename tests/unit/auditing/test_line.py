"""From counted facts to a line: issue 7, "Rebuild", word by word; facts are made by hand.

0 was split into 1 and 2, which are open; 2 holds no record.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.auditing.facts import Compared, Facts, Fault, InSink, Record, Unusable
from reshardctl.auditing.sink_frontier import SinkFrontier, line, sink_frontier_of
from reshardctl.codec.strict import JsonPath
from reshardctl.errors import Refused, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, Basis, ShardId, at_number, shard_id
from tests.support.case import from_table
from tests.support.judging import lineage_of

ROOT = {"id": 0, "range": ["0", "1"], "close": 1000, "records": {"n": 4, "from": 20, "to": 900}}
LEFT = {"id": 1, "range": ["0", "1/2"], "parents": [0], "open": 1001,
        "records": {"n": 3, "from": 1100, "to": 2000}}  # fmt: skip
RIGHT = {"id": 2, "range": ["1/2", "1"], "parents": [0], "open": 1001}
Records = dict[ShardId, list[Record]]


def stream_of(*shards: dict[str, Any]) -> tuple[Lineage, Records]:
    """The stream of these shards, and the records of each."""
    expect = {"initial": ["LATEST"], "releases": ["3.5.1"], "delivers": {}, "findings": []}
    case = from_table(Path("stream.toml"), {
        "title": "a stream", "source": "test", "consumer": "kcl", "rows": [], "expect": [expect],
        "stream": {"created": 1_795_219_200, "now": 3000, "shards": list(shards)},
    })  # fmt: skip
    records = {
        ShardId(shard): [Record(number, 0, float(at)) for number, _, at in held]
        for shard, held in case.records.items()
    }
    return lineage_of(case.shards, case.stream["created"]), records


S0, S1, S2 = map(shard_id, range(3))
LINEAGE, RECORDS = stream_of(ROOT, LEFT, RIGHT)
FIRST, SECOND = RECORDS[S0], RECORDS[S1]


def inside(shard, rows, **more):
    return InSink(shard, len(rows), rows[0], rows[-1], 0, 0, **more)


def again(record: Record) -> Record:
    """The same record, as another row spells it."""
    return replace(record, number=str(int(record.number)))


def read(shard, rows, missing=(), **more):
    """A shard that was compared with these records of the stream."""
    lost = [one for one in rows if one in missing]
    before = [one for one in rows if lost and int(one.number) < int(lost[0].number)]
    return Compared(
        shard, len(rows), len(lost), rows[0] if rows else None, rows[-1] if rows else None,
        first_missing=again(lost[0]) if lost else None, last_missing=lost[-1] if lost else None,
        before_missing=before[-1] if before else None,
        **({"whole": True, "ended": False, "tip": False} | more),
    )


NOTHING_LEFT = {
    S0: read(S0, [], ended=True), S1: read(S1, [], tip=True), S2: read(S2, [], tip=True),
}
"""How shards were read that have no record, or none any more: to their end, or their tip."""


def facts(shards, compared=(), **more):
    return Facts(
        "s3://lake/orders", "parquet", 1_795_222_200.0, sum(s.rows for s in shards),
        {one.shard: one for one in shards}, compared={one.shard: one for one in compared}, **more,
    )


def frontier(sink, *compared, whole: bool = True, **more) -> SinkFrontier:
    """Of a sink that was compared with the stream: of other shards there is nothing to read.

    whole: the library has no place inside a record.
    """
    others = NOTHING_LEFT | {one.shard: one for one in compared}
    return sink_frontier_of(facts(sink, others.values(), **more), LINEAGE, inside=whole)


def at(record):
    return at_number(record.number, record.sub)


def test_the_record_before_the_first_missing_one_and_the_furthest():
    line = frontier(
        [inside(S0, FIRST), inside(S1, [SECOND[0], SECOND[2]])],
        read(S0, FIRST, ended=True), read(S1, SECOND, [SECOND[1]], tip=True),
    )  # fmt: skip
    assert line.spans[S0].lo == line.spans[S0].hi == DONE
    assert line.spans[S0].basis is Basis.PROBED
    assert (line.spans[S1].lo, line.spans[S1].hi) == (at(SECOND[0]), at(SECOND[2]))
    assert line.spans[S2].lo == line.spans[S2].hi == START
    counted, gap = line.notes
    assert counted == (
        "positions from s3://lake/orders, 6 rows, compared with the stream: 1 of 3 shards "
        "processed to their end, 1 up to a record, 1 not at all"
    )
    assert gap.startswith("shard 1: ") and gap.endswith(" are re-read")


@pytest.mark.parametrize(("left", "lo"), [(SECOND[:2], SECOND[1]), ([], SECOND[-1])],
                         ids=["the last that was read", "no record is left: the last row"])
def test_nothing_missing_is_up_to_the_last_record(left, lo):
    line = frontier([inside(S1, SECOND)], read(S1, left, tip=True))
    assert (line.spans[S1].lo, line.spans[S1].hi) == (at(lo), at(SECOND[2]))
    assert line.spans[S1].basis is Basis.PROBED
    assert line.spans[S0].lo == DONE, "closed, without rows, and nothing to read: it is over"
    assert line.spans[S2].lo == START


@pytest.mark.parametrize("whole", [True, False])
def test_a_first_record_that_is_missing_is_the_beginning(whole):
    """Where retention has cut the window, TRIM_HORIZON is where what is left begins; what lay
    before is unknowable, and that is said."""
    window = FIRST if whole else FIRST[2:]
    line = frontier(
        [inside(S0, FIRST[3:])], read(S0, window, window[:1], ended=True, whole=whole)
    )
    assert (line.spans[S0].lo, line.spans[S0].hi) == (START, at(FIRST[3]))
    assert any("is unknown" in note for note in line.notes) is not whole


def test_what_expired_of_a_shard_with_nothing_left_is_unknown():
    line = frontier([inside(S1, SECOND)], read(S1, [], whole=False, tip=True))
    assert [note for note in line.notes if note.endswith("whether they were stored is unknown")] \
        == [line.notes[1]] and line.notes[1].startswith("shard 1: ")


@pytest.mark.parametrize(("short", "words"), [
    ("", "nothing that was read is missing"),
    ("no permission", "nothing that was read is missing; no permission"),
])  # fmt: skip
def test_a_span_tells_why_the_read_behind_it_is_short(short, words):
    compared = read(S1, SECOND, tip=not short, short=short)
    assert frontier([inside(S1, SECOND)], compared).spans[S1].why == words


@pytest.mark.parametrize(("shard", "missing", "how", "lo"), [
    (S1, (), {"ended": True}, SECOND[-1]),
    (S0, (), {"short": "the budget ran out"}, FIRST[-1]),
    (S0, FIRST[-1:], {"ended": True}, FIRST[-2]),
], ids=["open", "not read to its end", "one missing"])  # fmt: skip
def test_ended_only_where_listing_and_stream_prove_it(shard, missing, how, lo):
    of = RECORDS[shard]
    others = [read(one, [], tip=True) for one in (S0, S1, S2) if one != shard]
    line = frontier([inside(shard, of)], read(shard, of, missing, **how), *others)
    assert line.spans[shard].lo == at(lo)


def test_a_shard_that_is_over_below_one_that_is_not_ends_after_it():
    """No consumer would read a grandchild behind what its grandparent still owes."""
    lineage, records = stream_of(
        ROOT, {**LEFT, "close": 2500}, RIGHT,
        {"id": 3, "range": ["0", "1/4"], "parents": [1], "open": 2501},
        {"id": 4, "range": ["1/4", "1/2"], "parents": [1], "open": 2501},
    )  # fmt: skip
    first, second = records[S0], records[S1]
    compared = [
        read(S0, first, first[2:], ended=True), read(S1, second, ended=True),
        *(read(shard_id(n), [], tip=True) for n in (2, 3, 4)),
    ]
    found = facts([inside(S0, first[:2]), inside(S1, second)], compared)
    line = sink_frontier_of(found, lineage, inside=True)
    assert line.spans[S0].lo == at(first[1])
    assert line.spans[S1].lo == line.spans[S1].hi == at(second[-1])


def test_without_the_stream_only_what_commits_prove():
    proven = inside(S1, SECOND, proven=SECOND[1], proof="the file sink's log")
    line = sink_frontier_of(facts([proven]), LINEAGE, inside=True)
    assert (line.spans[S1].lo, line.spans[S1].hi) == (at(SECOND[1]), at(SECOND[2]))
    assert line.spans[S1].basis is Basis.STORED
    assert line.spans[S0].lo == line.spans[S2].lo == START
    assert line.notes[0].endswith(
        "the stream was not read: 0 of 3 shards processed to their end, 1 up to a record, "
        "2 not at all"
    )
    closed = replace(proven, shard=S0, first=FIRST[0], last=FIRST[3], proven=FIRST[3])
    line = sink_frontier_of(facts([closed]), LINEAGE, inside=True)
    assert line.spans[S0].lo == at(FIRST[3])


NO_ROW = "s3://lake/orders holds no row of a listed shard of stream orders"


@pytest.mark.parametrize(("found", "why"), [
    (facts([inside(S1, SECOND)]), ""),
    (facts([inside(S1, SECOND)], [
        NOTHING_LEFT[S0], read(S1, [], short="no permission"), NOTHING_LEFT[S2],
    ]), ""),
    (facts([inside(S1, SECOND, proven=SECOND[0])], changed="2 files more"), ""),
    (facts([]), f"{NO_ROW}$"),
    (facts([], unusable=(Unusable(Fault.OTHER_STREAM, 12),)), rf"{NO_ROW} \(12 rows: "),
], ids=["not compared", "not permitted", "changed", "no row", "of another stream"])  # fmt: skip
def test_what_proves_nothing_is_refused(found, why):
    with pytest.raises(Refused) as refusal:
        sink_frontier_of(found, LINEAGE, inside=True)
    assert refusal.value.next and re.match(why, refusal.value.what)


@pytest.mark.parametrize("spans", [[], None, "x"])
def test_a_stored_frontier_without_spans_names_the_place(spans):
    with pytest.raises(UsageError, match=r"plan\.json: spans: not an object"):
        line({"sink": "s", "notes": [], "spans": spans}, JsonPath("plan.json"))


BEGIN, END = ["START", "", 0, None], ["DONE", "", 0, None]


@pytest.mark.parametrize(("span", "why"), [
    ([BEGIN], ": not the two ends of a span, how it is known and why"),
    ([BEGIN, END, "guessed", ""], ": not the two ends of a span"),
    ([["INSIDE", "8", 0, None], ["INSIDE", "7", 0, None], "probed", ""],
     ": its end lies before its beginning"),
    (["begin", END, "probed", ""], "[0]: "),
    ([["START", "", 0, "soon"], END, "probed", ""], "[0][3]: "),
    ([BEGIN, "end", "probed", ""], "[1]: "),
    ([BEGIN, END, "probed", 7], "[3]: "),
])  # fmt: skip
def test_a_stored_span_without_two_ends_in_order_names_the_place(span, why):
    with pytest.raises(UsageError, match=re.escape(f"plan.json: spans.shardId-0{why}")):
        line({"sink": "s", "notes": [], "spans": {"shardId-0": span}}, JsonPath("plan.json"))


def test_rows_that_cannot_be_laid_to_a_shard_are_told():
    unusable = (Unusable(Fault.OTHER_INCARNATION, 7),)
    line = frontier([inside(S1, SECOND)], read(S1, SECOND, tip=True), unusable=unusable)
    assert any("7 rows" in note and "other incarnation" in note for note in line.notes)


@pytest.mark.parametrize(("seen", "last"), [([], FIRST[2]), ([FIRST[3]], FIRST[3])],
                         ids=["the last row", "the last that was read"])
def test_the_end_of_a_shard_names_its_last_record(seen, last):
    lo = frontier([inside(S0, FIRST[:3])], read(S0, seen, ended=True)).spans[S0].lo
    assert (lo, lo.text) == (DONE, last.number)


@pytest.mark.parametrize(("whole", "words"), [
    (True, "its first record among them"),
    (False, "the oldest record left in the stream among them"),
])  # fmt: skip
def test_without_a_record_before_the_gap_all_is_read(whole, words):
    compared = read(S1, SECOND, SECOND[:1], whole=whole, tip=True)
    span = frontier([inside(S1, SECOND[1:])], compared, whole=False).spans[S1]
    assert (span.lo, span.why) == (START, f"1 record is missing, {words}")


TORN = InSink(S1, 4, SECOND[0], replace(SECOND[2], sub=1), 0, 0)
"""Rows that end within a record."""


@pytest.mark.parametrize("whole", [True, False])
def test_a_record_that_is_there_in_part(whole):
    """Only KCL's checkpoints have a place inside a record; elsewhere all of it comes again, and
    all before it, since no fact names the record before."""
    compared = Compared(
        S1, 5, 2, SECOND[0], TORN.last, whole=True, ended=False, tip=True,
        first_missing=replace(SECOND[1], sub=1), last_missing=replace(SECOND[1], sub=2),
        before_missing=again(SECOND[1]),
    )
    span = frontier([TORN], compared, whole=whole).spans[S1]
    assert span.lo == (at(SECOND[1]) if whole else START)
    assert span.hi == at_number(SECOND[2].number, 1 if whole else 0)
    assert ("one in part" in span.why) is not whole


@pytest.mark.parametrize(("sink", "missing", "whole", "said"), [
    (TORN, (), True, True), (TORN, (), False, False),
    (inside(S1, SECOND[2:]), SECOND[:1], True, False),  # it begins anew, behind no record
])  # fmt: skip
def test_what_was_compared_by_number_alone_is_told(sink, missing, whole, said):
    """KCL behind (number, 0) delivers the user records 1, 2, ... of that number (ProcessTask,
    filterAndGetMaxExtendedSequenceNumber, KCL 2.7.2): more than the line says."""
    note = "records were compared whole"
    notes = frontier(
        [sink], read(S1, SECOND, missing, tip=True), whole=whole, notes=(note,)
    ).notes
    assert note in notes
    assert any("all its parts but the first" in one for one in notes) is said


@pytest.mark.parametrize("gaps", [4, 5, 6, 7])
def test_five_shards_with_a_gap_are_named_and_the_others_counted(gaps):
    lineage, records = stream_of(*(
        {"id": n, "range": [f"{n}/8", f"{n + 1}/8" if n < 7 else "1"],
         "records": {"n": 3, "from": 20, "to": 900}}
        for n in range(8)
    ))  # fmt: skip
    rows, compared = [], []
    for n, shard in enumerate(lineage):
        of = records[shard]
        rows.append(inside(shard, [of[0], of[2]] if n < gaps else of))
        compared.append(read(shard, of, [of[1]] if n < gaps else (), tip=True))
    _, *notes = sink_frontier_of(facts(rows, compared), lineage, inside=True).notes
    assert [note for note in notes if note.startswith("shard ")] == notes[: min(gaps, 5)]
    assert notes[5:] == ([f"{gaps - 5} more shards re-read later records"] if gaps > 5 else [])
