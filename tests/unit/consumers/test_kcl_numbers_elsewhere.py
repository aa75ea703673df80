"""Rows of KCL beside a row that holds the number of a record of their shard, as after a swap.

Whoever wrote that number had read the shard so far: KCL checkpoints what was read
(ShardRecordProcessorCheckpointer). What the shard's own row leaves of it is read again.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.model import START, TIP, Cut, Span, at_number, at_time, shard_id
from reshardctl.model.times import instant
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Plan, processed_frontier
from reshardctl.testing import load_topology
from tests.proof.drawn.states import rows_of
from tests.proof.reference.kcl import run
from tests.support.case import CASES, load
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench

CASE = load(CASES / "kcl" / "latest-number-elsewhere.toml")
"""Two roots of four records; the row of 1 holds the number of s0-1."""
SINCE = CASE.stream["created"] + 60


def bench(checkpoint: str, initial: str = "TRIM_HORIZON") -> Bench:
    """Shard 0's row at this record, or this word."""
    own, other = CASE.items()
    text = CASE.number_of(checkpoint) if checkpoint.startswith("s0") else checkpoint
    items: list[dict[str, Any]] = [{**own, "checkpoint": {"S": text}}, other]
    options = {"initial": initial, "release": "3.5.1"}
    return Bench.on(CASE, images_of(items), options, accept="reread=48h")


@pytest.mark.parametrize(
    ("checkpoint", "again"), [("TRIM_HORIZON", ["s0-0", "s0-1"]), ("s0-0", ["s0-1"]), ("s0-2", [])]
)
def test_what_the_number_shows_to_be_read_is_priced(checkpoint: str, again: list[str]) -> None:
    found = bench(checkpoint)
    plan = found.decide()
    assert isinstance(plan, Plan)
    rows = list(rows_of(found.after(plan.steps)).values())
    ran = run(load_topology(CASE.stream), CASE.stream["name"], rows, "TRIM_HORIZON", "3.5.1")
    read = {"s0-0", "s0-1"}
    assert [p for p in ran.delivered[shard_id(0)] if p in read] == again
    priced = [
        e for e in plan.after[0] if e.harm is Harm.REREAD and e.shard == shard_id(0)
    ]
    assert [e.until for e in priced] == ([at_number(CASE.number_of("s0-1"))] if again else [])
    assert not any(e.certain for e in priced)


@pytest.mark.parametrize(("checkpoint", "initial", "lo", "hi"), [
    ("TRIM_HORIZON", "TRIM_HORIZON", START, at_number(CASE.number_of("s0-1"))),
    # No number compares with a time, so it may have been read as far as the shard goes.
    ("AT_TIMESTAMP", f"AT_TIMESTAMP:{instant(SINCE)}", at_time(SINCE), TIP),
])  # fmt: skip
def test_the_row_is_taken_at_its_word_for_what_is_certain(
    checkpoint: str, initial: str, lo: Cut, hi: Cut
) -> None:
    span = processed_frontier(bench(checkpoint, initial).plan_case)[shard_id(0)]
    assert replace(span, why="") == replace(Span(lo, hi, span.basis), why="")
