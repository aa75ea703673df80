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
