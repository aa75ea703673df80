"""The layout of sequence numbers, against public numbers of real streams."""

from __future__ import annotations

import pytest

from reshardctl.testing.shards import END_INDEX, SequenceNumberError, end, parse, start
from tests.support.grouped import by_case
from tests.unit.testing.samples import golden

PUBLIC = golden("sequence_numbers.json")
# Layout v1 (2014) ends in another nibble; the fake writes and reads v2 alone.
NUMBERS = [row for row in PUBLIC["numbers"] if int(row["number"]) & 15 == 2]


def test_the_golden_file_holds_all_its_samples() -> None:
    assert len(PUBLIC["numbers"]) == 55
    assert len(NUMBERS) == 54
    assert len(PUBLIC["closed_shards"]) == 6


@by_case((row["source"], row["number"][-6:], (row,)) for row in NUMBERS)
def test_a_public_number_is_read_and_written_back(row: dict[str, object]) -> None:
    found = parse(str(row["number"]))
    assert found.shard == row["shard"]
    assert found.epoch <= found.time
    assert str(found) == row["number"]


def test_arrival_follows_the_time_in_the_number_within_seconds() -> None:
    lags = [row["arrival"] - parse(row["number"]).time for row in NUMBERS if "arrival" in row]
    assert len(lags) == 24
    assert min(lags) > 0
    assert max(lags) < 3


def test_a_root_starts_three_seconds_before_the_streams_creation() -> None:
    rows = [row for row in NUMBERS if "stream_created" in row]
    assert len(rows) == 7
    for row in rows:
        assert row["number"] == str(start(row["shard"], row["stream_created"] - 3))


@pytest.mark.parametrize(
    "closed", PUBLIC["closed_shards"], ids=lambda row: f"{row['source']}-{row['shard']}"
)
def test_a_closed_shards_end_and_its_childrens_starts(closed: dict[str, object]) -> None:
    last = parse(str(closed["end"]))
    assert last.is_end
    assert str(closed["end"]) == str(end(last.shard, last.epoch, last.time))
    children = closed["children"]
    assert isinstance(children, list)
    for child in children:
        assert child["start"] == str(start(child["shard"], last.time + 1))


# kinesalite's tests (they run against AWS): an index of 2**63 and above "is invalid".
BEYOND = int(end(0, 1_600_000_000, 1_600_000_000)) + (1 << 80)
assert BEYOND >> 80 & 2**64 - 1 == END_INDEX + 1


@pytest.mark.parametrize("text", [
    *(pytest.param(row["number"], id=row["source"]) for row in PUBLIC["others"]),
    pytest.param(str(BEYOND), id="past the end"),
    "", "SHARD_END", "-1", "1.5", "\u0664" * 56, pytest.param("9" * 5000, id="5000 digits"),
])  # fmt: skip
def test_what_no_shard_gave_out_is_refused(text: str) -> None:
    with pytest.raises(SequenceNumberError):
        parse(text)
