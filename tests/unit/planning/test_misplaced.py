"""A shard whose own row is lost may have been read to a number of it that another row holds.

Drawn for the real Telegraf 1.34 (`python -m tests.proof.drawn telegraf-1.34 --seeds 60515-60515`):
the row of a parent held a number of its child, whose row was lost. Once the parent's row was right,
the child's records came again, and the plan had not said so.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from reshardctl.model import START, at_number, shard_id
from reshardctl.planning.plan import processed_frontier
from tests.support.case import from_table
from tests.support.judging import Bench

SHARDS = [
    {"id": 0, "range": ["0", "1"], "open": 0, "close": 1200,
     "records": {"n": 3, "from": 60, "to": 1100}},
    {"id": 1, "range": ["0", "1/2"], "open": 1201, "parents": [0],
     "records": {"n": 2, "from": 1300, "to": 2900}},
    {"id": 2, "range": ["1/2", "1"], "open": 1201, "parents": [0],
     "records": {"n": 2, "from": 1300, "to": 2900}},
]
CHILD = shard_id(1)
STORES = [
    ("kcl", "checkpoint", {"initial": "TRIM_HORIZON", "release": "3.5.1"}),
    ("kinesis-consumer", "number",
     {"initial": "TRIM_HORIZON", "release": "0.5.0", "app": "app"}),
    ("kinesis-consumer", "number",
     {"initial": "TRIM_HORIZON", "release": "telegraf-1.34", "app": "app"}),
    ("kinsumer", "at", {"initial": "TRIM_HORIZON", "release": "snowplow-1.7"}),
    ("quickwit", "at", {"release": "0.9.0"}),
]


@pytest.mark.parametrize(("consumer", "field", "options"), STORES)
@pytest.mark.parametrize("more", [[], [{"shard": 2, "at": "s2-0"}]], ids=["alone", "beside"])
def test_it_may_have_been_read_to_that_number(
    consumer: str, field: str, options: dict[str, str], more: list[dict[str, Any]]
) -> None:
    rows = [{"shard": 0, field: "s1-1"}, *({"shard": r["shard"], field: r["at"]} for r in more)]
    case = from_table(Path("drawn.toml"), {
        "title": "t", "source": "drawn", "consumer": consumer, "rows": rows,
        "stream": {"created": 1_795_219_200, "now": 3000, "shards": SHARDS},
        "expect": [{"findings": []}],
    })
    dialect = import_module(f"tests.support.dialects.{consumer.replace('-', '_')}")
    bench = Bench.on(case, dialect.images(case), options)
    span = processed_frontier(bench.plan_case)[CHILD]
    assert span.lo == START
    assert span.hi >= at_number(case.number_of("s1-1"))
