"""A table of which KCL lists no lease is an empty one to it (isLeaseTableEmpty), and is begun anew.

KCL 3.5 leaves out rows that it cannot read, and they keep their keys (tests/reference/kcl.py, and
kcl_sync.py: the first leases of a start at a time are those of the shards open then).
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from reshardctl.model import Cause, ShardId, WillRead, at_time
from tests.dialects.kcl import images
from tests.support.case import from_table
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


def test_its_shards_begin_as_at_the_first_start() -> None:
    row = {"shard": 2, "checkpoint": "s2-0", "set": {"leaseCounter": {"S": "7"}}}
    case = from_table(Path("drawn.toml"), {
        "title": "t", "source": "drawn", "consumer": "kcl", "rows": [row],
        "stream": {"created": CREATED, "now": 3000, "shards": deepcopy(SHARDS)},
        "expect": [{"findings": []}],
    })
    (run,) = Bench.on(
        case, images(case), options_of(case, "AT_TIMESTAMP:+800", "3.5.1")
    ).replays()
    fate = run.fates[ShardId("shardId-000000000001")]
    assert isinstance(fate, WillRead)
    assert (fate.at.lo, fate.cause) == (at_time(CREATED + 800), Cause.REFILLED)
    assert run.fates[ShardId("shardId-000000000002")].cause is Cause.UNREADABLE
