"""Which source is chosen of a metastore's rows, and what is said where none is."""

from __future__ import annotations

import pytest

from reshardctl.consumers.quickwit.behaviour import named
from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.consumers.quickwit.rows import parse
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import AnomalyKind, Image, Stream, shard_id
from tests.support.lineages import split_in_turn

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


@pytest.mark.parametrize(("kind", "stream", "named"), ASKED.values(), ids=ASKED)
def test_an_unreadable_index_that_may_hold_the_source_is_told(kind, stream, named):
    with pytest.raises(kind) as raised:
        parse([AUDIT, BROKEN], stream, **named)
    assert BROKEN.attributes["unreadable"]["S"] in raised.value.what
    assert "mend it" in raised.value.next


@pytest.mark.parametrize(("kind", "stream", "named"), ASKED.values(), ids=ASKED)
def test_nothing_is_said_of_indexes_that_are_read(kind, stream, named):
    with pytest.raises(kind) as raised:
        parse([AUDIT], stream, **named)
    assert "unreadable" not in raised.value.what
    assert "mend it" not in raised.value.next


def test_an_unreadable_index_that_is_not_the_named_one_is_no_reason():
    with pytest.raises(UsageError) as raised:
        parse([AUDIT, BROKEN], None, index="other")
    assert "malformed" not in raised.value.what


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
