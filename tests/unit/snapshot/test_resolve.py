"""Times and given positions, resolved against a stream in this process.

Which number a position is follows from the records of the stream; which of them a library can
store, from its `Spec`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.codec.values import AFTER, SHARD_END
from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import ReshardError, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    HASH_SPACE,
    START,
    Cut,
    Image,
    PositionAtTime,
    Shard,
    ShardId,
    at_number,
    shard_id,
)
from reshardctl.model.times import instant, parse_when
from reshardctl.planning.policy import (
    AT_TIMESTAMP,
    LATEST_AT_START,
    LOSSLESS,
    POSITIONS,
    GivenPosition,
    GivenPositions,
)
from reshardctl.snapshot.positions import cut_in, position_of_option
from reshardctl.snapshot.resolve import (
    open_at,
    resharded_at,
    resolved,
    resolved_positions,
    with_ends,
)
from reshardctl.snapshot.take import FrozenStream, Stream, take
from reshardctl.testing.shards import SequenceNumber
from tests.contracts.memory_store import MemoryStore
from tests.unit.kinesis.streams import ARN, CREATED, in_process, split_stream

KCL = "kcl://orders-app?initial=TRIM_HORIZON&release=3.5.1"
OLD_KCL = "kcl://orders-app?initial=TRIM_HORIZON&release=1.0"
FAKE = split_stream()
KINESIS = in_process(FAKE).kinesis
NUMBERS = {n: [str(r.number) for r in s.records] for n, s in FAKE.stream("orders").shards.items()}
ARRIVALS = [record.arrival for record in FAKE.stream("orders").shards[1].records]
LISTED = {shard["ShardId"]: shard["SequenceNumberRange"]
          for shard in FAKE.client().list_shards(StreamName="orders")["Shards"]}  # fmt: skip
FIRST_OF_1 = LISTED[shard_id(1)]["StartingSequenceNumber"]
LAST_OF_0 = LISTED[shard_id(0)]["EndingSequenceNumber"]
AHEAD = str(int(SequenceNumber(CREATED, 9, CREATED + 9999, 1)))


def lease(shard: int, checkpoint: str) -> Image:
    key = shard_id(shard)
    return Image(key, {"leaseKey": {"S": key}, "checkpoint": {"S": checkpoint}})


def taken(consumer: str = KCL, rows: Iterable[Image] | None = None) -> Snapshot:
    """Shard 0 is over, 1 stands at its last record, its children 2 and 3 at their beginning."""
    leases = [lease(0, "SHARD_END"), lease(1, NUMBERS[1][-1]),
              lease(2, "TRIM_HORIZON"), lease(3, "TRIM_HORIZON")]  # fmt: skip
    store = MemoryStore(leases if rows is None else rows)
    return take(KINESIS, store, "orders", parse(consumer), FAKE.clock.now)


TAKEN = taken()


class Answered:
    """A stream whose reads end with this answer, whatever the limits."""

    def __init__(self, answer: PositionAtTime | None) -> None:
        self.records: Any = self
        self._answer = answer

    def places(
        self, _stream: str, opened: Iterable[ShardId], _time: float
    ) -> dict[ShardId, PositionAtTime | None]:
        return dict.fromkeys(opened, self._answer)


FROZEN = FrozenStream(TAKEN)
CUT_OFF: Any = Answered(None)
EARLY: Any = Answered(PositionAtTime(at_number(NUMBERS[1][0]), early=True))


def places(given: GivenPositions, stream: Stream = KINESIS, snapshot: Snapshot = TAKEN) -> Any:
    return resolved_positions(replace(POSITIONS, given=given), snapshot, stream)


def of_option(text: str) -> GivenPositions:
    return GivenPositions((position_of_option(text),))


def of_file(entry: dict[str, str | None], shard: int, **more: Any) -> GivenPositions:
    cut = cut_in(entry, "p.csv")
    return GivenPositions((GivenPosition("p.csv", shard_id(shard), cut),), source="p.csv", **more)


@pytest.mark.parametrize(("shard", "text", "cut", "differs"), [
    (2, "TRIM_HORIZON", DONE, "kind differs"),
    (2, "TRIM_HORIZON", at_number(NUMBERS[1][0]), "kind, number, sub_number differ"),
    (1, NUMBERS[1][-1], at_number(NUMBERS[1][0]), "number differs"),
    (2, "TRIM_HORIZON", START, ""),
    (1, NUMBERS[1][-1], at_number(NUMBERS[1][-1]), ""),
])  # fmt: skip
def test_an_entry_that_was_edited_beside_its_stored_text_is_refused(shard, text, cut, differs):
    """What `stored` holds is what the store holds, so the entry would be left alone."""
    entry = GivenPosition("p.csv: line 2", shard_id(shard), cut, text=text)
    given = GivenPositions((entry,), source="p.csv")
    if not differs:
        assert not places(given).places
        return
    with pytest.raises(UsageError, match=f"p.csv: line 2: {differs} from stored"):
        places(given)


@pytest.mark.parametrize(("text", "stream", "words"), [
    ("9=TRIM_HORIZON", KINESIS, "stream orders lists no such shard"),
    ("1=SHARD_END", KINESIS, "the shard is open and has no end yet"),
    ("0=LATEST", KINESIS, "the shard is closed: its tip is its end"),
    ("1=AT_TIMESTAMP", KINESIS, "it has no time"),
    ("1=AT_TIMESTAMP:", KINESIS, "it has no time"),
    ("1=AT_TIMESTAMP:2031-01-01T00:00:00Z", KINESIS, "2031-01-01T00:00:00Z is in the future"),
    (f"1=AT_TIMESTAMP:{instant(CREATED + 700)}", FROZEN, "has to read records"),
    (f"1=AT_TIMESTAMP:{instant(CREATED + 700)}", CUT_OFF, "was not found within the reads allowed"),
    (f"1={NUMBERS[0][0]}", KINESIS, f"{NUMBERS[0][0]} is a number of shard 0"),
    (f"1={AHEAD}", KINESIS, f"{AHEAD} lies in the future: no record has it"),
    ("1=7", KINESIS, "7 is no number of this shard"),
])  # fmt: skip
def test_a_position_that_the_shard_cannot_have(text: str, stream: Stream, words: str) -> None:
    with pytest.raises(ReshardError) as caught:
        places(of_option(text), stream)
    assert caught.value.what.startswith(f"--set {text}") and words in caught.value.what


@pytest.mark.parametrize(("consumer", "text", "words"), [
    ("quickwit+file:///srv?index=i&source=s", "1=LATEST", "quickwit cannot store LATEST"),
    (OLD_KCL, f"1={NUMBERS[1][0]}/3", "cannot store sub-sequence number 3"),
])  # fmt: skip
def test_a_position_that_the_library_cannot_store(consumer: str, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        places(of_option(text), snapshot=taken(consumer, None if "kcl" in consumer else ()))


@pytest.mark.parametrize(("text", "cut"), [
    (f"1={FIRST_OF_1}", START), ("1=TRIM_HORIZON", START), (f"0={LAST_OF_0}", None),
    (f"0={NUMBERS[0][-1]}", at_number(NUMBERS[0][-1])),
    (f"1={NUMBERS[1][0]}/3", at_number(NUMBERS[1][0], 3)),
    (f"1={NUMBERS[1][-1]}", None), ("2=TRIM_HORIZON", None),
    (f"1=AT_TIMESTAMP:{instant(ARRIVALS[2] - 1)}", at_number(NUMBERS[1][1])),
    (f"3=AT_TIMESTAMP:{instant(CREATED + 100)}", None),
])  # fmt: skip
def test_the_place_that_a_position_is(text: str, cut: Cut | None) -> None:
    """cut: `None` where the row has that position already. 3 opened later than the time asked for:
    it is read from its beginning."""
    shard = shard_id(int(text[0]))
    assert places(of_option(text)).places == ({} if cut is None else {shard: cut})
    assert cut is not None or places(of_option(text), FROZEN).places == {}, "nothing is read"


@pytest.mark.parametrize(("number", "kept"), [(NUMBERS[0][-1], NUMBERS[0][-1]), (FIRST_OF_1, "")])
def test_an_end_has_the_number_of_a_record_of_its_shard(number: str, kept: str) -> None:
    """Where it is another shard's, the end has none."""
    given = of_file({"kind": SHARD_END, "number": number}, 0)
    moved = places(given, snapshot=taken(rows=[lease(0, "TRIM_HORIZON"), lease(1, "LATEST")]))
    (cut,) = moved.places.values()
    assert cut == DONE and cut.text == kept


def test_a_stored_text_that_names_no_place() -> None:
    with pytest.raises(UsageError, match="what was stored is no place of the shard"):
        places(of_file({"kind": None}, 1))


@pytest.mark.parametrize(("arn", "created", "refused"), [
    (ARN, CREATED, False), (ARN, None, False), (f"{ARN}-2", CREATED, True), (ARN, 5, True),
])  # fmt: skip
def test_positions_of_another_stream(arn: str, created: float | None, refused: bool) -> None:
    given = of_file({"kind": AFTER, "number": NUMBERS[1][0]}, 1, arn=arn, created=created)
    if not refused:
        assert places(given).places == {shard_id(1): at_number(NUMBERS[1][0])}
        return
    with pytest.raises(UsageError, match=r"p\.csv: its positions are of"):
        places(given)


def test_a_shard_that_has_expired_since_is_left_alone_and_named() -> None:
    found = places(of_file({"kind": AFTER, "number": "7"}, 8, whole=True))
    assert found.places == {}
    assert found.notes == ("shard 8 of p.csv is not listed any more: left alone",)


def test_every_position_goes_back_by_a_time() -> None:
    """1 from its last record, in second 2390, to the one before 2000. 2 and 3 were never begun: 40
    minutes before the second of their beginning, their parent had its first record to come."""
    back = places(GivenPositions(back=390.0))
    before = [n for n, time in zip(NUMBERS[1], ARRIVALS, strict=True) if time < CREATED + 2000]
    assert back.places[shard_id(1)] == at_number(before[-1]) and back.notes == ()
    assert back.shifts
    assert shard_id(2) not in back.places, "it is at its beginning already"
    rows = [lease(0, "SHARD_END"), lease(1, NUMBERS[1][-1]), lease(2, "TRIM_HORIZON")]
    assert shard_id(3) not in places(GivenPositions(back=390.0), snapshot=taken(rows=rows)).places
    early = places(GivenPositions(back=390.0), EARLY)
    assert "the reads allowed ran out in shard" in early.notes[0]


AT = parse_when(instant(CREATED + 700))
TIMED = replace(AT_TIMESTAMP, when=AT)


@pytest.mark.parametrize(("when", "stream", "words"), [
    ("2031-01-01T00:00:00Z", KINESIS, "is in the future"),
    ("2020-01-01T00:00:00Z", KINESIS, "stream orders was created later"),
    (AT.text, FROZEN, "has to read records"),
    (AT.text, CUT_OFF, "where shard 1, 2, 3 stood at .* was not found"),
])  # fmt: skip
def test_a_time_that_cannot_be_resolved(when: str, stream: Stream, words: str) -> None:
    with pytest.raises(ReshardError, match=f"--policy at-timestamp={when}.*{words}"):
        resolved(replace(AT_TIMESTAMP, when=parse_when(when)), TAKEN, stream)


def test_a_time_is_the_last_record_before_it() -> None:
    found = resolved(TIMED, TAKEN, KINESIS)
    before = [n for n, time in zip(NUMBERS[1], ARRIVALS, strict=True) if time < CREATED + 700]
    assert found.places[shard_id(1)] == at_number(before[-1])
    assert found.notes == (f"policy {TIMED.text}: 3 shards were open at {AT.text}",)
    note = resolved(TIMED, TAKEN, EARLY).notes[-1]
    assert "the reads allowed ran out before" in note and "shard 1, 2, 3" in note


def test_a_time_before_the_oldest_record_is_the_beginning() -> None:
    later = replace(TAKEN, now=CREATED + 26 * 3600.0)
    found = resolved(TIMED, later, KINESIS)
    assert found.places == dict.fromkeys((shard_id(n) for n in (1, 2, 3)), START)
    assert "is before the oldest record that the stream keeps" in found.notes[0]


def test_one_position_by_a_time_before_the_oldest_record_needs_no_read() -> None:
    later = replace(TAKEN, now=CREATED + 26 * 3600.0)
    given = of_option(f"1=AT_TIMESTAMP:{AT.text}")
    assert places(given, FrozenStream(later), later).places == {shard_id(1): START}


def test_shards_that_opened_in_the_second_of_a_policy_are_read_from_the_beginning() -> None:
    """2 and 3, the children of 0: no record of theirs arrived before it."""
    opened = TAKEN.lineage.opened_at(shard_id(2))
    assert opened is not None
    found = resolved(replace(AT_TIMESTAMP, when=parse_when(instant(opened))), TAKEN, KINESIS)
    assert found.notes[0].endswith("; 2 opened later, to be read from the beginning")


def test_a_reshard_is_dated_by_the_children_where_no_parent_is_listed() -> None:
    """They open a second after it closed."""
    lineage = TAKEN.lineage
    left = Lineage(lineage.stream, [lineage[shard_id(n)] for n in (1, 2, 3)])
    assert resharded_at(left) == resharded_at(lineage) == lineage.closed_at(shard_id(0))


def test_a_closed_shard_whose_end_has_no_time_may_hold_records_of_any() -> None:
    """As an emulator may count."""
    stream = TAKEN.lineage.stream
    counted = Shard(shard_id(0), None, None, 0, HASH_SPACE - 1, "1", "7")
    assert open_at(Lineage(stream, [counted]), stream.created) == {shard_id(0): None}


def test_a_stream_that_was_never_resharded_has_no_time_of_it() -> None:
    fake = split_stream(shards=[{"id": 0, "range": ["0", "1"]}])
    with pytest.raises(UsageError, match="@reshard: no shard of stream orders was ever split"):
        resharded_at(in_process(fake).kinesis.lineage("orders"))


def test_the_last_record_of_every_shard_that_is_taken_as_over() -> None:
    """For stores that mark an end by it. Nothing is read for a policy that skips nothing, or where
    no record can be read; a shard whose last record is not reached has none."""
    found = with_ends(LATEST_AT_START, TAKEN, KINESIS).places
    assert found == {shard_id(0): DONE}
    assert found[shard_id(0)].text == NUMBERS[0][-1]
    assert with_ends(LATEST_AT_START, TAKEN, CUT_OFF).places == {}
    named = replace(POSITIONS, places={shard_id(0): DONE})
    for policy, stream in ((LOSSLESS, KINESIS), (named, KINESIS), (LATEST_AT_START, FROZEN)):
        assert with_ends(policy, TAKEN, stream) is policy
