"""What is said of evidence: whose rows are meant, and what Kinesis could not be asked."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers import locator
from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.evidence import (
    ENDED,
    FIRST,
    Earlier,
    Foreign,
    Trace,
    located,
    naming,
    unverified,
)
from reshardctl.diagnosis.rules.rows import unreadable_entry
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import START, Anomaly, AnomalyKind, Cut, ShardId, at_number, shard_id
from tests.support.case import CASES, load
from tests.support.lineages import split_in_turn
from tests.unit.diagnosis.rules.rule_tables import view_of
from tests.unit.diagnosis.rules.test_tables import BY_CASES
from tests.unit.snapshot.test_file import snapshot_of

CLICKS = "arn:aws:kinesis:us-east-1:123456789012:stream/clicks"


@pytest.mark.parametrize(("text", "where"), [
    ("spark:/data/check", "/data/check: "), ("spark+s3://bucket/check", "s3://bucket/check: "),
    ("kcl://app", ""),
])  # fmt: skip
def test_an_error_names_the_folder_that_was_read(text, where):
    with pytest.raises(UsageError) as caught, located(locator.parse(text)):
        raise UsageError("no batch", "")
    assert caught.value.what == f"{where}no batch"


@pytest.mark.parametrize(("foreign", "words"), [
    (Foreign(Origin.ELSEWHERE, (CLICKS,)), "stream clicks"),
    (Foreign(Origin.EARLIER), "an earlier stream of this name or of another stream"),
    (Foreign(Origin.ELSEWHERE), "another stream"),
], ids=str)  # fmt: skip
def test_whose_a_number_is(foreign, words):
    assert foreign.words == words


@pytest.mark.parametrize(("foreign", "words"), [
    ({}, ""), ({shard_id(0): Foreign(Origin.ELSEWHERE)}, ""),
    ({shard_id(0): Foreign(Origin.ELSEWHERE, (CLICKS,))}, ". Its numbers are of stream clicks"),
], ids=str)  # fmt: skip
def test_a_wrong_stream_names_the_one_that_is_known(foreign, words):
    with pytest.raises(WrongStream) as caught, naming(foreign):
        raise WrongStream("not this stream's", "")
    assert caught.value.what == f"not this stream's{words}"


def test_what_kinesis_could_not_be_asked_names_the_permission():
    snapshot = snapshot_of(load(CASES / "kcl" / "b.toml"))
    assert list(unverified(replace(snapshot, others_known=True))) == []
    (note,) = unverified(replace(snapshot, others_known=False))
    assert note.endswith("(kinesis:ListStreams)")
    unasked = replace(snapshot, asked={7: None})
    assert [note.rpartition(" ")[2] for note in unverified(unasked)] == [
        "(kinesis:GetShardIterator)"
    ]


def test_a_table_that_keeps_no_position_is_an_error_of_the_whole_consumer():
    """Without a unique key no save replaces a row (store/postgres, store/mysql)."""
    view = view_of(next(told for told in BY_CASES if told.name == "healthy-roots"))
    odd = Anomaly(AnomalyKind.NOT_KEPT, ShardId("0"), "", "no unique key")
    (found,) = unreadable_entry(replace(view, anomalies=(odd,)))
    assert (str(found.severity), found.shards) == ("error", ())
    assert found.what == "no position can be saved: no unique key"


SPLIT_TWICE = split_in_turn(1, [0, 1])
"""0 is split into 1 and 2 after ten minutes, 1 into 3 and 4 after twenty."""


@pytest.mark.parametrize(("positions", "minutes", "trace"), [
    ({1: ENDED}, 30, Trace.FINISHED),
    ({1: ENDED}, 20, Trace.FINISHED),  # it closed in that second
    ({1: ENDED}, 15, Trace.UNKNOWN),  # it was open then
    ({1: "7"}, 30, Trace.STOOD),
    ({1: "LATEST"}, 30, Trace.UNKNOWN),
    ({}, 30, Trace.UNKNOWN),  # an empty table proves nothing
    ({0: ENDED, 2: "7"}, 30, Trace.LOST),
    ({0: ENDED, 2: "7"}, 15, Trace.UNKNOWN),
    ({0: "7"}, 30, Trace.UNKNOWN),  # its parent was still to create its row
    ({0: ENDED, 3: FIRST}, 30, Trace.LOST),
    ({0: ENDED, 3: "7"}, 30, Trace.UNKNOWN),  # a child was begun
    ({0: ENDED, 3: "~eof-7"}, 30, Trace.UNKNOWN),
])  # fmt: skip
def test_an_earlier_reading_tells_what_became_of_a_shard_without_a_row(positions, minutes, trace):
    taken = SPLIT_TWICE.stream.created + 60 * minutes
    earlier = Earlier(taken, {shard_id(n): text for n, text in positions.items()})
    assert earlier.trace(SPLIT_TWICE, shard_id(1)) is trace


@pytest.mark.parametrize(("text", "cut"), [
    (FIRST, START), ("7", at_number("7")), ("7/3", at_number("7", 3)), ("7/x", None),
    ("LATEST", None), (ENDED, None), ("~eof-7", None),
])  # fmt: skip
def test_a_position_as_it_was_spelled_then(text: str, cut: Cut | None) -> None:
    assert Earlier(0.0, {shard_id(1): text}).stood(shard_id(1)) == cut
