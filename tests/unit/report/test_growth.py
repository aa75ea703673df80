"""How the work of a report grows with the stream: in calls, which no load of the machine changes.

`scripts/bench/run diagnose` measures the same in seconds, with the same aim.
"""

from __future__ import annotations

from cProfile import Profile

import pytest

from reshardctl.report.report import RepairOptions, make
from scripts.bench.diagnose import snapshot_of
from scripts.bench.measured import growth
from scripts.bench.stored import CONSUMED


def calls(consumer: str, open_shards: int) -> int:
    """The calls of one report on ten times as many listed shards."""
    snapshot, profile = snapshot_of(consumer, open_shards), Profile()
    profile.runcall(make, snapshot, RepairOptions())
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("consumer", CONSUMED)
def test_four_times_the_shards_take_four_times_the_calls(consumer: str) -> None:
    calls(consumer, 4)  # imports what the library needs
    assert growth(calls(consumer, 20), calls(consumer, 80), 4) <= 1.1


def measured(consumer: str, open_shards: int) -> float:
    """How often a report measures what a start does to a shard, for each shard that is listed."""
    snapshot, profile = snapshot_of(consumer, open_shards), Profile()
    profile.runcall(make, snapshot, RepairOptions())
    calls = (e.callcount for e in profile.getstats() if getattr(e.code, "co_name", "") == MEASURE)
    return sum(calls) / len(snapshot.lineage)


MEASURE = "_of_shard"
"""In `planning/effects.py`."""


@pytest.mark.parametrize("consumer", CONSUMED)
def test_the_starts_after_the_plan_are_measured_where_they_differ(consumer: str) -> None:
    """One in a hundred open shards is planned for; a plan of Spark's names every shard."""
    assert 1 <= measured(consumer, 20) <= (2.2 if consumer == "spark" else 1.3)
