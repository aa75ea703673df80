"""From counted facts to a line: issue 7, "Rebuild", word by word; facts are made by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.auditing.facts import Compared, Facts, Fault, InSink, Record, Unusable
from reshardctl.auditing.sink_frontier import line, sink_frontier_of
from reshardctl.codec.strict import JsonPath
from reshardctl.errors import Refused, UsageError
from reshardctl.model import DONE, START, Basis, ShardId, at_number
from tests.support.case import from_table
from tests.support.judging import lineage_of

STREAM: dict[str, Any] = {
    "created": 1_795_219_200, "now": 3000,
    "shards": [
        {"id": 0, "range": ["0", "1"], "close": 1000, "records": {"n": 4, "from": 20, "to": 900}},
        {"id": 1, "range": ["0", "1/2"], "parents": [0], "open": 1001,
         "records": {"n": 3, "from": 1100, "to": 2000}},
        {"id": 2, "range": ["1/2", "1"], "parents": [0], "open": 1001},
    ],
}  # fmt: skip
S0, S1, S2 = (ShardId(f"shardId-{n:012d}") for n in range(3))


@pytest.fixture
def case(tmp_path):
    expect = [{"initial": ["LATEST"], "releases": ["3.5.1"], "delivers": {}, "findings": []}]
    table = {
        "title": "a split", "source": "test", "consumer": "kcl", "stream": STREAM, "rows": [],
        "expect": expect,
    }
    return from_table(tmp_path / "split.toml", table)


@pytest.fixture
def lineage(case):
    return lineage_of(case.shards, case.stream["created"])


def records(case, shard):
    return [Record(number, 0, float(at)) for number, _, at in case.records[shard]]


def inside(shard, rows, **more):
    return InSink(shard, len(rows), rows[0], rows[-1], 0, 0, **more)


def read(shard, rows, missing=(), **more):
    lost = [one for one in rows if one in missing]
    before = [one for one in rows if lost and int(one.number) < int(lost[0].number)]
    return Compared(
        shard, len(rows), len(lost), rows[0] if rows else None, rows[-1] if rows else None,
        first_missing=lost[0] if lost else None, last_missing=lost[-1] if lost else None,
        before_missing=before[-1] if before else None,
        **({"whole": True, "ended": False, "tip": False} | more),
    )


def facts(shards, compared=(), **more):
    return Facts(
        "s3://lake/orders", "parquet", 1_795_222_200.0, sum(s.rows for s in shards),
        {one.shard: one for one in shards}, compared={one.shard: one for one in compared}, **more,
    )


def at(record):
    return at_number(record.number, record.sub)


def test_the_record_before_the_first_missing_one_and_the_furthest(case, lineage):
    of = records(case, S1)
    found = facts(
        [inside(S0, records(case, S0)), inside(S1, [of[0], of[2]])],
        [read(S0, records(case, S0), ended=True), read(S1, of, [of[1]], tip=True),
         read(S2, [], tip=True)],
    )  # fmt: skip
    line = sink_frontier_of(found, lineage, inside=True)
    assert line.spans[S0].lo == line.spans[S0].hi == DONE
    assert line.spans[S0].basis is Basis.PROBED
    assert (line.spans[S1].lo, line.spans[S1].hi) == (at(of[0]), at(of[2]))
    assert line.spans[S2].lo == line.spans[S2].hi == START
    counted, gap = line.notes
    assert counted == (
        "positions from s3://lake/orders, 6 rows, compared with the stream: 1 of 3 shards "
        "processed to their end, 1 up to a record, 1 not at all"
    )
    assert gap.startswith("shard 1: ") and gap.endswith(" are re-read")


def test_nothing_missing_is_up_to_the_last_record_read(case, lineage):
    of = records(case, S1)
    line = sink_frontier_of(facts([inside(S1, of)], [
        read(S0, [], ended=True), read(S1, of[:2], tip=True), read(S2, [], tip=True),
    ]), lineage, inside=True)  # fmt: skip
    assert (line.spans[S1].lo, line.spans[S1].hi) == (at(of[1]), at(of[2]))


def test_a_shard_of_which_the_stream_has_no_record_left_is_at_its_last_row(case, lineage):
    of = records(case, S1)
    line = sink_frontier_of(facts([inside(S1, of)], [
        read(S0, [], ended=True), read(S1, [], tip=True), read(S2, [], tip=True),
    ]), lineage, inside=True)  # fmt: skip
    assert line.spans[S1].lo == line.spans[S1].hi == at(of[-1])
    assert line.spans[S1].basis is Basis.PROBED


@pytest.mark.parametrize("whole", [True, False])
def test_a_first_record_that_is_missing_is_the_beginning(case, lineage, whole):
    """Where retention has cut the window, TRIM_HORIZON is where what is left begins; what lay
    before is unknowable, and that is said."""
    of = records(case, S0)
    window = of if whole else of[2:]
    line = sink_frontier_of(facts([inside(S0, of[3:])], [
        read(S0, window, window[:1], ended=True, whole=whole), read(S1, [], tip=True),
        read(S2, [], tip=True),
    ]), lineage, inside=True)  # fmt: skip
    assert (line.spans[S0].lo, line.spans[S0].hi) == (START, at(of[3]))
    assert any("is unknown" in note for note in line.notes) is not whole


@pytest.mark.parametrize("how", ["open", "not read to its end", "one missing"])
def test_ended_only_where_listing_and_stream_prove_it(case, lineage, how):
    shard = S1 if how == "open" else S0
    of = records(case, shard)
    compared = read(
        shard, of, of[-1:] if how == "one missing" else (),
        ended=how != "not read to its end", short="the budget ran out" if "not" in how else "",
    )
    others = [read(s, [], tip=True) for s in (S0, S1, S2) if s != shard]
    line = sink_frontier_of(facts([inside(shard, of)], [compared, *others]), lineage, inside=True)
    assert line.spans[shard].lo == at(of[-2] if how == "one missing" else of[-1])


def test_a_closed_shard_without_rows_and_with_nothing_to_read_is_over(case, lineage):
    of = records(case, S1)
    line = sink_frontier_of(facts([inside(S1, of)], [
        read(S0, [], ended=True), read(S1, of, tip=True), read(S2, [], tip=True),
    ]), lineage, inside=True)  # fmt: skip
    assert line.spans[S0].lo == DONE and line.spans[S2].lo == START


def test_a_shard_that_is_over_below_one_that_is_not_ends_after_it(tmp_path):
    """No consumer would read a grandchild behind what its grandparent still owes."""
    stream = {**STREAM, "shards": [
        STREAM["shards"][0], {**STREAM["shards"][1], "close": 2500}, STREAM["shards"][2],
        {"id": 3, "range": ["0", "1/4"], "parents": [1], "open": 2501},
        {"id": 4, "range": ["1/4", "1/2"], "parents": [1], "open": 2501},
    ]}  # fmt: skip
    expect = [{"initial": ["LATEST"], "releases": ["3.5.1"], "delivers": {}, "findings": []}]
    deep = from_table(tmp_path / "deep.toml", {
        "title": "two splits", "source": "test", "consumer": "kcl", "stream": stream, "rows": [],
        "expect": expect,
    })  # fmt: skip
    lineage = lineage_of(deep.shards, deep.stream["created"])
    first, second = records(deep, S0), records(deep, S1)
    compared = [
        read(S0, first, first[2:], ended=True), read(S1, second, ended=True),
        *(read(ShardId(f"shardId-{n:012d}"), [], tip=True) for n in (2, 3, 4)),
    ]
    found = facts([inside(S0, first[:2]), inside(S1, second)], compared)
    line = sink_frontier_of(found, lineage, inside=True)
    assert line.spans[S0].lo == at(first[1])
    assert line.spans[S1].lo == line.spans[S1].hi == at(second[-1])


def test_without_the_stream_only_what_commits_prove(case, lineage):
    of = records(case, S1)
    proven = inside(S1, of, proven=of[1], proof="the file sink's log")
    line = sink_frontier_of(facts([proven]), lineage, inside=True)
    assert (line.spans[S1].lo, line.spans[S1].hi) == (at(of[1]), at(of[2]))
    assert line.spans[S1].basis is Basis.STORED
    assert line.spans[S0].lo == line.spans[S2].lo == START
    closed = replace(proven, shard=S0, first=records(case, S0)[0], last=records(case, S0)[3],
                     proven=records(case, S0)[3])  # fmt: skip
    line = sink_frontier_of(facts([closed]), lineage, inside=True)
    assert line.spans[S0].lo == at(records(case, S0)[3])


@pytest.mark.parametrize("found", [
    lambda of: facts([inside(S1, of)]),
    lambda of: facts([inside(S1, of)], [
        read(S0, [], ended=True), read(S1, [], short="no permission"), read(S2, [], tip=True),
    ]),
    lambda of: facts([inside(S1, of, proven=of[0])], changed="2 files more"),
    lambda of: facts([]),  # noqa: ARG005
    lambda of: facts([], unusable=(Unusable(Fault.OTHER_STREAM, 12),)),  # noqa: ARG005
])  # fmt: skip
def test_what_proves_nothing_is_refused(case, lineage, found):
    with pytest.raises(Refused) as refusal:
        sink_frontier_of(found(records(case, S1)), lineage, inside=True)
    assert refusal.value.next


def test_a_sink_without_a_row_of_the_stream_says_why_where_it_is_known(lineage):
    said = "s3://lake/orders holds no row of a listed shard of stream orders"
    for unusable, why in (((), ""), ((Unusable(Fault.OTHER_STREAM, 12),), " (12 rows: ")):
        with pytest.raises(Refused) as refusal:
            sink_frontier_of(facts([], unusable=unusable), lineage, inside=True)
        assert refusal.value.what.startswith(said + why)
        assert why or refusal.value.what == said


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


def test_rows_that_cannot_be_laid_to_a_shard_are_told(case, lineage):
    of = records(case, S1)
    line = sink_frontier_of(facts([inside(S1, of)], [
        read(S0, [], ended=True), read(S1, of, tip=True), read(S2, [], tip=True),
    ], unusable=(Unusable(Fault.OTHER_INCARNATION, 7),)), lineage, inside=True)  # fmt: skip
    assert any("7 rows" in note and "other incarnation" in note for note in line.notes)


@pytest.mark.parametrize(("seen", "last"), [([], 2), ([3], 3)])
def test_the_end_of_a_shard_names_the_last_record_that_was_read_or_else_the_last_row(
    case, lineage, seen, last
):
    of = records(case, S0)
    found = facts([inside(S0, of[:3])], [
        read(S0, [of[n] for n in seen], ended=True), read(S1, [], tip=True), read(S2, [], tip=True),
    ])  # fmt: skip
    lo = sink_frontier_of(found, lineage, inside=True).spans[S0].lo
    assert (lo, lo.text) == (DONE, of[last].number)


@pytest.mark.parametrize(("whole", "words"), [
    (True, "its first record among them"),
    (False, "the oldest record left in the stream among them"),
])  # fmt: skip
def test_without_a_record_before_the_gap_all_is_read(case, lineage, whole, words):
    of = records(case, S1)
    found = facts([inside(S1, of[1:])], [
        read(S0, [], ended=True), read(S1, of, of[:1], whole=whole, tip=True),
        read(S2, [], tip=True),
    ])  # fmt: skip
    span = sink_frontier_of(found, lineage, inside=False).spans[S1]
    assert (span.lo, span.why) == (START, f"1 record is missing, {words}")


@pytest.mark.parametrize("inside", [True, False])
def test_a_record_that_is_there_in_part(case, lineage, inside):
    """Only KCL's checkpoints have a place inside a record; elsewhere all of it comes again, and
    all before it, since no fact names the record before."""
    of = records(case, S1)
    torn = Compared(
        S1, 5, 2, of[0], replace(of[2], sub=1), whole=True, ended=False, tip=True,
        first_missing=replace(of[1], sub=1), last_missing=replace(of[1], sub=2),
        before_missing=of[1],
    )
    found = facts(
        [inside_of(of)], [read(S0, [], ended=True), torn, read(S2, [], tip=True)],
    )
    span = sink_frontier_of(found, lineage, inside=inside).spans[S1]
    assert span.lo == (at(of[1]) if inside else START)
    assert span.hi == at_number(of[2].number, 1 if inside else 0)
    assert ("one in part" in span.why) is not inside


def inside_of(of):
    return InSink(S1, 4, of[0], replace(of[2], sub=1), 0, 0)


@pytest.mark.parametrize("inside", [True, False])
def test_what_was_compared_by_number_alone_is_told(case, lineage, inside):
    """KCL behind (number, 0) delivers the user records 1, 2, ... of that number (ProcessTask,
    filterAndGetMaxExtendedSequenceNumber, KCL 2.7.2): more than the line says."""
    of = records(case, S1)
    found = facts([inside_of(of)], [
        read(S0, [], ended=True), read(S1, of, tip=True), read(S2, [], tip=True),
    ], notes=("records were compared whole",))  # fmt: skip
    notes = sink_frontier_of(found, lineage, inside=inside).notes
    assert "records were compared whole" in notes
    assert any("all its parts but the first" in note for note in notes) is inside


def test_parts_matter_only_where_a_shard_continues_behind_a_record(case, lineage):
    of = records(case, S1)
    found = facts([inside(S1, of[2:])], [
        read(S0, [], ended=True), read(S1, of, of[:1], tip=True), read(S2, [], tip=True),
    ], notes=("records were compared whole",))  # fmt: skip
    notes = sink_frontier_of(found, lineage, inside=True).notes
    assert not any("all its parts but the first" in note for note in notes)


@pytest.mark.parametrize("gaps", [4, 5, 6, 7])
def test_five_shards_with_a_gap_are_named_and_the_others_counted(tmp_path, gaps):
    shards = [
        {"id": n, "range": [f"{n}/8", f"{n + 1}/8" if n < 7 else "1"],
         "records": {"n": 3, "from": 20, "to": 900}}
        for n in range(8)
    ]  # fmt: skip
    expect = [{"initial": ["LATEST"], "releases": ["3.5.1"], "delivers": {}, "findings": []}]
    wide = from_table(tmp_path / "wide.toml", {
        "title": "eight shards", "source": "test", "consumer": "kcl",
        "stream": {**STREAM, "shards": shards}, "rows": [], "expect": expect,
    })  # fmt: skip
    lineage = lineage_of(wide.shards, wide.stream["created"])
    rows, compared = [], []
    for n, shard in enumerate(lineage):
        of = records(wide, shard)
        rows.append(inside(shard, [of[0], of[2]] if n < gaps else of))
        compared.append(read(shard, of, [of[1]] if n < gaps else (), tip=True))
    _, *notes = sink_frontier_of(facts(rows, compared), lineage, inside=True).notes
    assert [note for note in notes if note.startswith("shard ")] == notes[: min(gaps, 5)]
    assert notes[5:] == ([f"{gaps - 5} more shards re-read later records"] if gaps > 5 else [])
