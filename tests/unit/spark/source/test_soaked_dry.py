"""The soak of tests/proof/libraries/spark/soak without Spark: many seeds, alike at every turn."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reshardctl.kinesis.fast import Begin
from reshardctl.spark.source import planning
from reshardctl.spark.source.planning import Planner
from reshardctl.testing import serve
from tests.proof.libraries.spark.soak.dry import Dry
from tests.proof.libraries.spark.soak.moving import STREAM
from tests.proof.libraries.spark.tool import OK, Tool

SEEDS, MORE = range(5), range(5, 200)
INSPECTED = (1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 3)))
HOURS = 4
"""More than a seed's virtual time, and less than a retention."""


def test_the_promise_holds_and_the_stream_moves_in_every_way() -> None:
    counts: Counter[str] = Counter()
    for seed in SEEDS:
        dry = Dry(seed)
        assert dry.complaints() == [], seed
        counts += dry.moving.counts
    for kind in ("records", "splits", "merges", "counts", "trims", "faults"):
        assert counts[kind] >= len(SEEDS) // 2, counts


@pytest.mark.long
def test_the_promise_holds_on_many_seeds() -> None:
    broken = {seed: found for seed in MORE if (found := Dry(seed).complaints())}
    assert broken == {}


@pytest.mark.parametrize("seed", INSPECTED)
def test_our_own_command_finds_nothing_wrong_with_what_the_query_wrote(
    seed: int, tmp_path: Path
) -> None:
    """Left anywhere in its life, a batch open or not."""
    dry = Dry(seed, time.time() - HOURS * 3600)
    dry.play()
    dry.write(tmp_path / "checkpoint")
    clock = dry.moving.fake.clock
    clock.set(max(clock.now(), time.time()))
    with serve(dry.moving.fake) as server:
        tool = Tool(tmp_path / "state", {"kinesis": server.url})
        locator = f"spark:{tmp_path / 'checkpoint'}?startingPosition={dry.starting}"
        answer = tool.inspect(locator, STREAM)
    assert (answer.code, answer.codes) == (OK, set())


def every_child_at_once(lineage: Any, places: Any, *_: Any) -> Any:
    return [shard for shard in lineage if shard not in places]


def no_marks(_: Any, places: Any) -> Any:
    return {shard: place for shard, place in places.items() if not place.end} or places


def behind_the_first(begin: Any) -> Any:
    def late(planner: Planner, first: Any, shard: Any, place: Any, anew: bool) -> Any:
        found = begin(planner, first, shard, place, anew)
        new = found == Begin("TRIM_HORIZON") and place.seq and not first.initial
        return Begin("AT_SEQUENCE_NUMBER", place.seq) if new else found

    return late


@pytest.mark.parametrize(
    ("where", "name", "broken", "said"),
    [
        (planning, "entrants", every_child_at_once, "begins in batch"),
        (planning, "kept", no_marks, "doubled"),
        (Planner, "_begin", behind_the_first(Planner._begin), "lost"),
    ],
)
def test_a_broken_source_does_not_pass(
    where: Any, name: str, broken: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Children with their parents; finished shards forgotten; new shards not from the start."""
    monkeypatch.setattr(where, name, broken)
    assert any(said in each for seed in SEEDS for each in Dry(seed).complaints())
