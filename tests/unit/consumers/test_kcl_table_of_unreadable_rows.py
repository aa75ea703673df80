"""A table of which KCL lists no lease is an empty one to it (isLeaseTableEmpty), and is begun anew.

KCL 3.5 leaves out rows that it cannot read, and they keep their keys (tests/proof/reference/kcl.py,
and kcl_sync.py: the first leases of a start at a time are those of the shards open then).
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from reshardctl.diagnosis.rules import Severity
from reshardctl.model import Cause, ShardId, WillRead, at_time
from reshardctl.planning.plan import Plan
from tests.support.case import from_table
from tests.support.dialects.kcl import images
from tests.support.judging import Bench, options_of

CREATED = 1_795_219_200
SHARDS = [
    {"id": 0, "range": ["0", "1"], "open": 0, "close": 600,
     "records": {"n": 3, "from": 60, "to": 560}},
    {"id": 1, "range": ["0", "1/2"], "open": 601, "close": 1200, "parents": [0],
     "records": {"n": 3, "from": 660, "to": 1100}},
    {"id": 2, "range": ["1/2", "1"], "open": 601, "parents": [0],
     "records": {"n": 3, "from": 660, "to": 2900}},
    {"id": 3, "range": ["0", "1/2"], "open": 1201, "parents": [1],
     "records": {"n": 3, "from": 1260, "to": 2900}},
]


def bench(shards: list[dict[str, Any]], initial: str) -> Bench:
    """Of two rows' shards only that of 2 has one, which 3.5 cannot read."""
    row = {"shard": 2, "checkpoint": "s2-0", "set": {"leaseCounter": {"S": "7"}}}
    case = from_table(Path("drawn.toml"), {
        "title": "t", "source": "drawn", "consumer": "kcl", "rows": [row],
        "stream": {"created": CREATED, "now": 3000, "shards": deepcopy(shards)},
        "expect": [{"findings": []}],
    })
    return Bench.on(case, images(case), options_of(case, initial, "3.5.1"), accept="reread=48h")


def test_its_shards_begin_as_at_the_first_start() -> None:
    (run,) = bench(SHARDS, "AT_TIMESTAMP:+800").replays()
    fate = run.fates[ShardId("shardId-000000000001")]
    assert isinstance(fate, WillRead)
    assert (fate.at.lo, fate.cause) == (at_time(CREATED + 800), Cause.REFILLED)
    assert run.fates[ShardId("shardId-000000000002")].cause is Cause.UNREADABLE
    assert run.crash is None


@pytest.mark.parametrize(("initial", "gone", "may_die"), [
    ("AT_TIMESTAMP:+800", 1, True), ("AT_TIMESTAMP:+1300", 1, False), ("TRIM_HORIZON", 1, False),
    ("AT_TIMESTAMP:+800", 0, False),
])
def test_it_may_crash_at_a_time_of_which_a_shard_has_expired(
    initial: str, gone: int, may_die: bool
) -> None:
    """HierarchicalShardSyncer.getShardListAtInitialPosition wants the hash keys covered, and
    Scheduler gives up after twenty attempts; ListShards does not list expired shards, and the API
    reference corrects FROM_TIMESTAMP to the horizon, but not AT_TIMESTAMP."""
    shards = deepcopy(SHARDS)
    for shard in shards[: gone + 1]:
        shard |= {"trimmed": True, "records": []}
    found = bench(shards, initial)
    (run,) = found.replays()
    assert (run.crash is not None) is may_die
    assert run.crash is None or not run.crash.certain
    (told,) = [f for f in found.findings() if f.code == "RSH301"]
    assert told.severity is Severity.ERROR
    assert ("twenty attempts" in told.costs) is may_die
    plan = found.decide()
    assert isinstance(plan, Plan)
    options = options_of(found.case, initial, "3.5.1")
    (after,) = Bench.on(found.case, found.after(plan.steps), options).replays()
    assert after.crash is None
