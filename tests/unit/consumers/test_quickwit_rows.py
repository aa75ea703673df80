"""Which source is chosen of a metastore's rows, and what is said where none is."""

from __future__ import annotations

import dataclasses

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.quickwit.behaviour import named
from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.consumers.quickwit.rows import parse
from reshardctl.errors import UsageError, WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import START, AnomalyKind, Delete, Image, Stream, at_number, shard_id
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, NoSafePlan, Plan, decide
from tests.support.case import CASES, load
from tests.support.dialects import dialect_of
from tests.support.judging import Bench
from tests.support.lineages import CREATED, number_inside, split_in_turn

STREAM = Stream(
    "arn:aws:kinesis:us-east-1:123456789012:stream/events", "events", 0, 86400, "ACTIVE"
)
AUDIT = Image("audit/kinesis-audit", {"stream": {"S": "audit"}})
BROKEN = Image("logs", {"unreadable": {"S": "/indexes/logs/metastore.json: malformed JSON"}})
ASKED = {
    "a source": (UsageError, None, {"source": "kinesis-events"}),
    "an index": (UsageError, None, {"index": "logs"}),
    "a stream": (WrongStream, STREAM, {}),
}


@pytest.mark.parametrize(("kind", "stream", "named"), [
    *ASKED.values(), (UsageError, None, {"index": "other"}),
])  # fmt: skip
@pytest.mark.parametrize("more", [[BROKEN], []])
def test_an_unreadable_index_that_may_hold_the_source_is_told(kind, stream, named, more):
    with pytest.raises(kind) as raised:
        parse([AUDIT, *more], stream, **named)
    may_hold = bool(more) and named.get("index") != "other"
    assert (BROKEN.attributes["unreadable"]["S"] in raised.value.what) is may_hold
    assert ("mend it" in raised.value.next) is may_hold


@pytest.mark.parametrize(("number", "words"), [
    (1, "shard 0"),
    (2, "shards 0 and 1"),
    (5, "shards 0, 1, 2, 3 and 4"),
    (6, "shards 0, 1, 2, 3, 4 and 1 more"),
])  # fmt: skip
def test_the_first_five_shards_are_named(number, words):
    assert named([shard_id(n) for n in range(number)]) == words


EVENTS = Image("events/kinesis-events", {"checkpoint": {"S": "{}"}, "stream": {"S": "events"}})
STRANGE = {
    "no metastore's": Image("note", {"text": {"S": "x"}}),
    "a source without a stream": Image("events/other", {"position": {"S": "1"}}),
    "no position": Image("events/kinesis-events/shardId-000000000001", {"position": {"N": "1"}}),
    "of no source": Image("events/ghost/shardId-000000000001", {"position": {"S": "1"}}),
}


@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE)
def test_a_row_of_another_kind_is_named_and_the_rest_is_judged(strange):
    at = Image("events/kinesis-events/shardId-000000000000", {"position": {"S": "5"}})
    checkpoint = parse([EVENTS, at, strange], STREAM)
    assert list(checkpoint.rows) == ["shardId-000000000000"]
    found = Quickwit().anomalies(split_in_turn(1, ()), checkpoint)
    foreign = [one for one in found if one.kind is AnomalyKind.FOREIGN_ENTRY]
    assert [one.key for one in foreign] == [strange.key]


def test_rows_of_another_kind_alone_are_no_store():
    with pytest.raises(UsageError, match="no Kinesis source"):
        parse([STRANGE["no metastore's"]], STREAM)


def test_an_index_whose_source_cannot_be_written_is_named_by_its_own_name():
    """The chosen index says so itself."""
    why = {"refused": {"S": "its checkpoint is of another form"}}
    other = Image("audit/kinesis-audit", {**AUDIT.attributes, **why})
    chosen = Image(EVENTS.key, {**EVENTS.attributes, **why})
    (told,) = parse([other, chosen], STREAM).unreadable
    assert told.key == "audit"
    assert "index audit: its checkpoint is of another form" in told.attributes["unreadable"]["S"]


def test_an_end_mark_on_a_shard_that_never_held_a_record_is_taken_off():
    """`~` alone is Quickwit's word for it, and crashes it (cases/quickwit/parent-bare-end-mark)."""
    case = load(CASES / "quickwit" / "parent-bare-end-mark.toml")
    case = dataclasses.replace(case, records={**case.records, shard_id(0): ()})
    images = dialect_of("quickwit").images(case)
    found = Bench.on(case, images, {"release": "0.9.0"}, accept="reread=2h", probe=True)
    plan = found.decide()
    assert isinstance(plan, Plan)
    (write,) = [write for step in plan.steps for write in step.writes]
    assert isinstance(write.change, Delete) and write.why == "it never held a record"


@pytest.mark.parametrize("release", ["0.9.0", "0.8.2"])
def test_no_position_is_the_tip_as_of_each_start(release):
    """A position is a number, or it is refused (kinesis_source.rs; position_of)."""
    case = load(CASES / "quickwit" / "healthy.toml")
    images = dialect_of("quickwit").images(case)
    decision = Bench.on(case, images, {"release": release}, "latest-at-start").decide()
    assert isinstance(decision, NoSafePlan) and "--policy latest" in decision.ways_out[0]


QUICKWIT = Quickwit()
OPEN = shard_id(1)


def app(release):
    (found,) = QUICKWIT.candidates(parse([EVENTS], STREAM), {"release": release})
    return found.app


def test_a_source_that_lost_its_positions_gets_those_of_the_sink():
    lineage = split_in_turn(2, (0,))
    number = number_inside(lineage, OPEN)
    want = dict.fromkeys(lineage, START) | {OPEN: at_number(number)}
    steps = QUICKWIT.rebuild(lineage, parse([EVENTS], STREAM), want, app("0.9.0"))
    assert [(write.key, write.change.attributes) for step in steps for write in step.writes] == [
        (f"{EVENTS.key}/{OPEN}", {"position": {"S": number}})
    ]


def test_without_a_source_there_is_nothing_to_begin():
    """Quickwit alone makes an index and its source."""
    state = StreamState(split_in_turn(1, ()), CREATED + 3600)
    candidates = QUICKWIT.candidates(QUICKWIT.parse([]), {"release": "0.9.0"})
    decision = decide(Case(QUICKWIT, state, [], candidates, bootstrap=True))
    assert isinstance(decision, NoSafePlan) and "create the source" in decision.ways_out[0]


@pytest.mark.parametrize("numbered", [True, False])
def test_a_time_to_wait_for_is_named_where_numbers_tell_it(numbered):
    """moto counts from 1, and its numbers tell no time."""
    lineage = split_in_turn(1, (0,))
    if not numbered:
        lineage = Lineage(STREAM, [
            replace(lineage[shard], start=f"{n}1", end=lineage[shard].end and f"{n}9")
            for n, shard in enumerate(lineage, start=1)
        ])
    want = dict.fromkeys(lineage, START)
    found = QUICKWIT.encode(lineage, parse([EVENTS], STREAM), want, app("0.8.2"), ())
    assert isinstance(found, Cannot)
    assert any(way.startswith("wait until") for way in found.ways_out) is numbered
