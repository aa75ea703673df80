"""A plan must not take away the last sign of whose stream the rows are of: where only numbers of an
earlier stream were left, the next plan would ask for `--recreated` (found by the random store 2146
of reference-quickwit-0.8.2).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.model import DONE, START, Create, Image, Span, after, at_number, shard_id, writes_of
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan, decide, processed_frontier
from reshardctl.planning.policy import POSITIONS
from reshardctl.planning.rebuild import rebuilt
from tests.support.case import from_table
from tests.support.case_stream import number
from tests.support.dialects import dialect_of
from tests.support.judging import Bench

CREATED = 1795219200
OLDER = number(CREATED - 40_000, 1, CREATED - 30_000, 0)
SHARDS = [
    {"id": 0, "range": ["0", "1/2"], "open": 0, "close": 37_743,
     "records": {"n": 2, "from": 20, "to": 37_723}},
    {"id": 1, "range": ["1/2", "1"], "open": 0, "records": {"n": 4, "from": 20, "to": 62_923}},
    {"id": 2, "range": ["0", "1/4"], "parents": [0], "open": 37_744},
    {"id": 3, "range": ["1/4", "1/2"], "parents": [0], "open": 37_744,
     "records": {"n": 1, "from": 37_764, "to": 37_764}},
]  # fmt: skip
ROWS = {
    "kcl": ({"shard": 0, "checkpoint": OLDER}, {"shard": 1, "checkpoint": "s0-0"}),
    "kinsumer": (
        {"shard": 0, "at": "s0-0", "set": {"SequenceNumber": {"S": OLDER}}},
        {"shard": 1, "at": "s0-0"},
    ),
    "kinesis-consumer": ({"shard": 0, "number": OLDER}, {"shard": 1, "number": "s0-0"}),
    "quickwit": ({"shard": 0, "raw": OLDER}, {"shard": 1, "at": "s0-0"}),
}
RELEASES = [
    ("kcl", "1.15.3"), ("kcl", "2.7.2"), ("kcl", "3.5.1"), ("kinsumer", "snowplow-1.7"),
    ("kinsumer", "twitch"), ("kinesis-consumer", "0.5.0"), ("kinesis-consumer", "master"),
    ("kinesis-consumer", "telegraf-1.39"), ("quickwit", "0.8.2"), ("quickwit", "0.9.0"),
]


def bench(consumer: str, release: str, accept: str, images: list[Image] | None = None) -> Bench:
    case = from_table(Path("drawn.toml"), {
        "title": "swapped, and another stream's", "source": "drawn", "consumer": consumer,
        "stream": {"created": CREATED, "now": 65_000, "shards": SHARDS},
        "rows": list(ROWS[consumer]), "expect": [],
    })
    options: dict[str, Any] = {"release": release, "initial": "TRIM_HORIZON"}
    options |= {"app": "app"} if consumer == "kinesis-consumer" else {}
    if consumer == "quickwit":
        del options["initial"]
    rows = dialect_of(consumer).images(case) if images is None else images
    return Bench.on(case, rows, options, accept=accept)


@pytest.mark.parametrize("accept", ["reread=1h", "reread=1h,disorder", "reread=7d,disorder"])
@pytest.mark.parametrize(("consumer", "release"), RELEASES)
def test_what_a_plan_leaves_is_still_of_this_stream(consumer, release, accept):
    images = bench(consumer, release, accept).plan_case.images
    first = bench(consumer, release, accept).decide()
    assert isinstance(first, Plan) or not isinstance(first, Ask)
    if isinstance(first, Plan):
        then = bench(consumer, release, accept, after(images, first.steps)).decide()
        assert not isinstance(then, Ask | Plan)


BESIDE = number(CREATED + 49_997, 0, CREATED + 50_900, 9)
"""Of shard 9 of a stream that was created later: the one that is looked at had no such shard."""
SHARED = {
    "kinsumer": (
        {"shard": 0, "at": "s0-1", "finished": True}, {"shard": 1, "at": "s1-3"},
        {"shard": 3, "at": "s3-0"},
        {"shard": 9, "at": "s1-3", "set": {"SequenceNumber": {"S": BESIDE}}},
    ),
    "kinesis-consumer": (
        {"shard": 0, "number": "s0-1"}, {"shard": 1, "number": "s1-3"},
        {"shard": 3, "number": "s3-0"}, {"shard": 9, "number": BESIDE},
    ),
}


@pytest.mark.parametrize(
    ("consumer", "release"), [one for one in RELEASES if one[0] in SHARED]
)
def test_the_row_of_a_younger_stream_is_never_written(consumer, release, monkeypatch):
    """Two streams under one application's name: the number is of a shard that this one had not."""
    monkeypatch.setitem(ROWS, consumer, SHARED[consumer])
    found = bench(consumer, release, "reread=7d,disorder")
    assert "RSH212" in {finding.code for finding in found.findings()}
    decision = found.decide()
    steps = decision.steps if isinstance(decision, Plan) else ()
    assert not [write.key for step in steps for write in step.writes if write.key.endswith("09")]


@pytest.mark.parametrize("spelled", [" {}", "{}\n", "0{}"])
@pytest.mark.parametrize("release", [each for name, each in RELEASES if name == "kinesis-consumer"])
def test_nor_is_it_where_the_number_has_to_be_bared_first(release, spelled, monkeypatch):
    """A repair writes such a number bare, so that it is judged, and Kinesis asked, as it is then
    (seed 271 of reference-kinesis-consumer)."""
    *own, other = SHARED["kinesis-consumer"]
    rows = (*own, {**other, "number": spelled.format(BESIDE)})
    monkeypatch.setitem(SHARED, "kinesis-consumer", rows)
    test_the_row_of_a_younger_stream_is_never_written("kinesis-consumer", release, monkeypatch)


@pytest.mark.parametrize(("place", "decision"), [(DONE, Nothing), (START, Ask)], ids=str)
def test_positions_that_the_rows_hold_already_need_no_word_on_the_stream(
    place, decision, monkeypatch
):
    """All numbers are older than the stream: a write would need --recreated, and there is none."""
    ended = {"shard": 0, "checkpoint": "SHARD_END"}
    monkeypatch.setitem(ROWS, "kcl", (ended, {"shard": 1, "checkpoint": OLDER}))
    case = bench("kcl", "3.5.1", "reread=7d").plan_case
    given = replace(POSITIONS, places={shard_id(0): place})
    assert isinstance(decide(replace(case, policy=given)), decision)


@pytest.mark.parametrize("recreated", [False, True])
def test_beside_a_sink_rows_of_shards_that_are_gone_count_in_the_same_stream_only(
    recreated, monkeypatch
):
    monkeypatch.setitem(ROWS, "kcl", ({"shard": 1, "checkpoint": "s1-0"},))
    case = bench("kcl", "3.5.1", "reread=7d").plan_case
    gone = Image("shardId-000000000009", {**case.images[0].attributes})
    line = {shard_id(1): Span(DONE, DONE)}
    frontier = processed_frontier(
        replace(case, images=(*case.images, gone), line=line, recreated=recreated)
    )
    listed = set(case.state.lineage)
    assert frontier[shard_id(1)] == line[shard_id(1)]
    assert frontier.keys() - listed == (set() if recreated else {shard_id(9)})


def test_a_position_of_another_stream_is_not_written_where_it_is_given(monkeypatch):
    monkeypatch.setitem(ROWS, "kinsumer", SHARED["kinsumer"])
    case = bench("kinsumer", "twitch", "reread=7d").plan_case
    found = decide(replace(case, policy=replace(POSITIONS, places={shard_id(9): START})))
    assert isinstance(found, NoSafePlan)
    assert found.why == "the positions of 9 are not this stream's, and are never written"


@pytest.mark.parametrize(("consumer", "release", "row"), [
    ("kinsumer", "twitch", {"shard": 1, "at": "s1-0"}),
    ("kinesis-consumer", "0.5.0", {"shard": 1, "number": "s1-0"}),
])  # fmt: skip
def test_a_rebuild_creates_no_row_that_is_there(consumer, release, row, monkeypatch):
    monkeypatch.setitem(ROWS, consumer, (row,))
    case = bench(consumer, release, "reread=7d").plan_case
    line = dict.fromkeys(case.state.lineage, Span(START, START))
    found = rebuilt(replace(case, line=line))
    assert isinstance(found, Plan)
    created = {w.key for w in writes_of(found.steps) if isinstance(w.change, Create)}
    assert created.isdisjoint(image.key for image in case.images)


def test_what_follows_from_a_sink_is_never_written_while_the_application_runs(monkeypatch):
    """Moving a lease back is safe beside KCL 3, but its workers go on filling the sink."""
    monkeypatch.setattr(Kcl, "rebuild", lambda *_: Cannot("not as a whole"))
    monkeypatch.setitem(ROWS, "kcl", ({"shard": 1, "checkpoint": "s1-0"},))
    case = bench("kcl", "3.5.1", "reread=7d").plan_case
    found = rebuilt(replace(case, line=dict.fromkeys(case.state.lineage, Span(START, START))))
    assert isinstance(found, Plan)
    assert [(write.key, write.live) for write in writes_of(found.steps)] == [(shard_id(1), False)]


@pytest.mark.parametrize(("consumer", "release", "rows"), [
    ("kcl", "3.5.1", (
        {"shard": 0, "checkpoint": "SHARD_END"}, {"shard": 1, "checkpoint": "s1-0"},
        {"shard": 2, "checkpoint": OLDER}, {"shard": 3, "checkpoint": OLDER},
    )),
    ("kinsumer", "snowplow-1.7", (
        {"shard": 0, "at": "s0-1", "finished": True, "set": {"SequenceNumber": {"NULL": True}}},
        {"shard": 1, "at": "s1-0"},
        {"shard": 2, "at": "s0-0", "set": {"SequenceNumber": {"S": OLDER}}},
        {"shard": 3, "at": "s0-0", "set": {"SequenceNumber": {"S": OLDER}}},
    )),
])  # fmt: skip
@pytest.mark.parametrize("begun", [False, True])
def test_an_end_without_a_number_may_be_the_earlier_stream_s(
    consumer, release, rows, begun, monkeypatch
):
    """Of a recreated stream, whose shards were split alike: rules.md, RSH102, "Listed shards start
    at TRIM_HORIZON". A number of this stream below it shows that the mark is of this one."""
    if begun:
        rows = (*rows[:3], {"shard": 3, ("checkpoint" if consumer == "kcl" else "at"): "s3-0"})
    monkeypatch.setitem(ROWS, consumer, rows)
    case = replace(bench(consumer, release, "reread=7d,disorder").plan_case, recreated=True)
    plan = decide(case)
    assert isinstance(plan, Plan)
    written = {write.key.rpartition("/")[2] for step in plan.steps for write in step.writes}
    assert (shard_id(0) in written) is not begun
    assert shard_id(2) in written


@pytest.mark.parametrize(("consumer", "release"), [
    ("kcl", "3.5.1"), ("kinesis-consumer", "0.5.0"), ("kinesis-consumer", "telegraf-1.34"),
    ("kinsumer", "snowplow-1.7"), ("quickwit", "0.9.0"),
])  # fmt: skip
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside"])
def test_a_shard_without_a_row_may_have_been_read_to_the_number_in_another_s(
    consumer, release, beside, monkeypatch
):
    """Drawn for the real Telegraf 1.34 (`python -m tests.proof.drawn telegraf-1.34 --seeds
    60515-60515`): the row of a parent held a number of its child, whose row was lost. Once the
    parent's row was right, the child's records came again, and the plan had not said so."""
    field = {"kcl": "checkpoint", "kinesis-consumer": "number"}.get(consumer, "at")
    rows = [{"shard": 0, field: "s3-0"}, *([{"shard": 1, field: "s1-0"}] if beside else [])]
    monkeypatch.setitem(ROWS, consumer, tuple(rows))
    posed = bench(consumer, release, "reread=7d")
    span = processed_frontier(posed.plan_case)[shard_id(3)]
    assert span.lo == START
    assert span.hi >= at_number(posed.case.number_of("s3-0"))
