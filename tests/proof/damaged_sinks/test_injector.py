"""The injector itself: the same seed gives the same sink, and the truth is what was done."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reshardctl.testing.shards import key_hash
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.damage import Damage, inject
from tests.proof.damaged_sinks.files import write_partitioned, write_sink
from tests.proof.damaged_sinks.history import History, Kind, draw
from tests.proof.damaged_sinks.layouts import BARE, CONNECTOR, LAYOUTS, OURS, TEXT, Layout
from tests.proof.damaged_sinks.truth import Truth, truth_of

NOW = 1_795_300_000
OLD = Kind(hours=40, roots=3, reshards=7, aggregated=0.2)
SEEDS = range(12)


def history(seed: int, kind: Kind | None = None) -> History:
    return draw(seed, kind, now=NOW)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_is_a_sink(seed: int) -> None:
    one, other = (inject(history(seed), seed, damage.EVERYTHING) for _ in range(2))
    assert one.rows == other.rows and truth_of(one) == truth_of(other)
    assert inject(history(seed), seed + 1, damage.EVERYTHING).rows != one.rows


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [Kind(), OLD], ids=["young", "old"])
def test_a_stream_is_as_streams_are(seed: int, kind: Kind) -> None:
    """Each record lies in the open shard of its key's hash; numbers grow along a key."""
    drawn = history(seed, kind)
    shards = drawn.stream().shards
    latest: dict[str, tuple[int, int]] = {}
    for row in drawn.rows:
        assert row.record is not None
        shard = shards[int(row.shard[-12:])]
        assert shard.low <= key_hash(row.key) <= shard.high
        assert shard.opened < row.arrival and (shard.closed is None or row.arrival < shard.closed)
        assert latest.get(row.key, (0, 0)) < row.record
        latest[row.key] = row.record
    crossing: dict[str, set[str]] = {row.key: set() for row in drawn.rows}
    for row in drawn.rows:
        crossing[row.key].add(row.shard)
    assert any(len(found) > 1 for found in crossing.values())
    assert any(not s.records and s.closed and s.closed - s.opened == 60 for s in shards.values())
    assert all(len(row.number or "") == 56 for row in drawn.rows)
    assert (len(drawn.listed) < len(shards)) == (kind is OLD)
    assert any(row.sub for row in drawn.rows) == (kind is OLD)
    for shard in shards.values():
        numbers = [record.number for record in shard.records]
        assert numbers == sorted(numbers) and all(shard.starting < n for n in numbers)
        assert shard.ending is None or all(n < shard.ending for n in numbers)


def test_some_shards_were_busy() -> None:
    drawn = [s for seed in SEEDS for s in history(seed).stream().shards.values()]
    assert any(len(shard.epochs) > 1 for shard in drawn)
    assert any(shard.index > 1 << 36 for shard in drawn)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [Kind(), OLD], ids=["young", "old"])
def test_a_right_consumer_has_no_faults(seed: int, kind: Kind) -> None:
    drawn = history(seed, kind)
    truth = truth_of(inject(drawn, seed, ()))
    assert nothing(truth)
    assert truth.rows == len(drawn.rows) == sum(held.rows for held in truth.shards.values())


def nothing(truth: Truth) -> bool:
    return not (truth.missing or truth.gone or truth.doubled or truth.disordered or truth.unusable)


def counted(truth: Truth) -> dict[str, int]:
    found = {
        "missing": sum(map(len, truth.missing.values())), "doubled": len(truth.doubled),
        "extra": sum(held.extra for held in truth.shards.values()),
        "disordered": len(truth.disordered), "gone": len(truth.gone),
        **{fault: len(rows) for fault, rows in truth.unusable.items()},
    }  # fmt: skip
    return {name: n for name, n in found.items() if n}


@pytest.mark.parametrize(("one", "expected"), [
    (damage.lose_single, {"missing": 1}),
    (damage.lose_range, {"missing": 4}),
    (damage.lose_tail, {"missing": 2}),
    (damage.lose_head, {"missing": 1}),
    (damage.double_once, {"doubled": 1, "extra": 1}),
    (damage.double_many, {"doubled": 1, "extra": 5}),
    (damage.child_first, {"disordered": 1}),
    (damage.within_shard, {"disordered": 1}),
    (damage.other_stream, {"other stream": 2}),
    (damage.other_incarnation, {"other incarnation": 1}),
    (damage.unknown_shard, {"unknown shard": 1}),
    (damage.not_its_shard, {"not its shard": 1}),
    (damage.faulty_numbers, {"no number": 2, "not numeric": 6, "odd length": 2}),
], ids=lambda value: getattr(value, "__name__", ""))  # fmt: skip
@pytest.mark.parametrize("seed", SEEDS)
def test_a_damage_is_what_it_says(one: Damage, expected: dict[str, int], seed: int) -> None:
    found = counted(truth_of(inject(history(seed), seed, [one])))
    # A row that moves behind several of its key's rows counts once, one that they all pass too.
    assert found.keys() == expected.keys()
    assert found == expected or (found.keys() == {"disordered"} and found["disordered"] >= 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_shards_and_batches(seed: int) -> None:
    made = inject(history(seed), seed, [damage.lose_shard])
    truth = truth_of(made)
    [(shard, places)] = truth.missing.items()
    assert shard not in truth.shards and len(places) == truth.read[shard]
    again = counted(truth_of(inject(history(seed), seed, [damage.replay_batch])))
    assert again["doubled"] == again["extra"] >= 3 and again.keys() == {"doubled", "extra"}


def test_what_retention_has_taken_is_not_missing() -> None:
    truth = truth_of(inject(history(3, OLD), 3, [damage.lose_old]))
    assert counted(truth) == {"gone": 3}


def test_the_truth_notices_what_was_not_noted() -> None:
    """A row that goes without a note is a contradiction, not a finding."""
    made = inject(history(1), 1, damage.EVERYTHING)
    made.rows = made.rows[1:]
    with pytest.raises(AssertionError):
        truth_of(made)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_says_what_it_holds(layout: Layout) -> None:
    cells = layout.cells(history(0).rows[0])
    assert list(cells) == list(layout.types) and set(layout.roles.values()) <= set(cells)


def test_files_hold_the_rows(tmp_path: Path) -> None:
    made = inject(history(2), 2, damage.EVERYTHING)
    root = write_sink(tmp_path / "a sink.json", made.rows, CONNECTOR, "json")
    lines = [json.loads(x) for f in sorted(root.glob("*.json")) for x in f.open(encoding="utf-8")]
    assert [line["row_id"] for line in lines] == [row.ident for row in made.rows]
    assert [line.get("sequenceNumber") for line in lines] == [row.number for row in made.rows]
    root = write_sink(tmp_path / "csv", made.rows, TEXT, "csv", files=2)
    read = [line for f in sorted(root.glob("*.csv")) for line in csv.DictReader(f.open())]
    assert [line["Number"] for line in read] == [row.number or "" for row in made.rows]


def test_partitions_name_the_shard(tmp_path: Path) -> None:
    made = inject(history(2), 2, ())
    root = write_partitioned(tmp_path / "p", made.rows, OURS, "json")
    found: Counter[str] = Counter()
    for file in root.rglob("*.json"):
        lines = file.read_text(encoding="utf-8").splitlines()
        assert "shard_id" not in lines[0]
        found[file.parent.parent.name] += len(lines)
    assert found == Counter(f"shard_id={row.shard}" for row in made.rows)


def test_a_row_of_a_bare_sink_has_its_number_only() -> None:
    row = history(0).rows[0]
    assert BARE.cells(replace(row, number=None)) == {
        "seq": None, "payload": row.data, "row_id": row.ident,
    }  # fmt: skip
