"""Every case of `kinesis-lineage` through the source itself: as it stands, and repaired by hand.

The third reader of tests/cases/spark/lineage-*: the forecast is held to the same files, and so is
the reference that was written apart from both (tests/proof/reference/spark_lineage.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.errors import ReshardError
from reshardctl.model import Image
from reshardctl.planning.plan import Ask, Plan, decide
from reshardctl.testing import load_topology
from reshardctl.testing.service import Settings
from tests.proof.reference.spark_files import logged
from tests.support.case import CASES, Case, Expect, all_cases, load
from tests.support.covering import few
from tests.support.dialects.spark import images, repaired
from tests.support.grouped import by_case
from tests.support.judging import Bench
from tests.unit.spark.source.drive import Query

RELEASE = "kinesis-lineage"
PAUSE = 5.0
"""Seconds: a shard in which nothing lay is not asked again at once."""


@dataclass(frozen=True, slots=True)
class Situation:
    """One case under one start position."""

    case: Case
    expect: Expect
    initial: str

    def __str__(self) -> str:
        return "-".join([self.case.name, self.initial, *self.expect.options.values()])

    def run(self, files: list[Image], old: bool) -> tuple[Query, str]:
        """The query's next start on these files, and what it died of."""
        settings = Settings(end_with_last_records=False)
        fake = load_topology(self.case.stream, settings=settings)
        query = Query(fake, old, self.options(), *_logs(self.case, files))
        try:
            query.drain()
            fake.clock.advance(PAUSE)
            for shard in self.case.live.shards:
                for index in range(self.case.live.n):
                    fake.put(self.case.stream["name"], shard, f"n{shard}-{index}")
            query.drain()
        except ReshardError as error:
            return query, error.what
        return query, ""

    def options(self) -> dict[str, str]:
        """What the query is started with."""
        kind, _, after = self.initial.partition(":+")
        at = f" {self.case.stream['created'] + float(after)}" if after else ""
        return {"startingPosition": kind + at, **self.expect.options}


def _logs(case: Case, files: list[Image]) -> tuple[list[str], int]:
    """The offsets in their order, and how many of them are committed."""
    key = case.state["query"].get("key", "0")
    texts = {Path(one.key): one.attributes.get("text", {}).get("S", "") for one in files}
    offsets = {int(p.name): t for p, t in texts.items() if p.parent.name == "offsets" and p.name}
    lines = [logged(offsets[number]).lines[key] for number in sorted(offsets)]
    committed = sum(p.parent.name == "commits" for p in texts)
    return [line for line in lines if line is not None], committed


def _situations() -> Iterator[Situation]:
    for case in all_cases("spark"):
        for expect in case.expects:
            if RELEASE in expect.releases:
                yield from (Situation(case, expect, initial) for initial in expect.initial)


FEW = few(tuple({one.case.name: one.case for one in _situations()}.values()))
every = by_case(((one.case.name, str(one), (one,)) for one in _situations()), FEW)
releases = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])


def judged(
    one: Situation, files: list[Image], old: bool, dies: bool,
    told: Mapping[str, tuple[str, ...]], order: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    query, died = one.run(files, old)
    assert bool(died) == dies, died
    if dies:
        return
    found: dict[str, list[str]] = {shard["ShardId"]: [] for shard in one.case.shards}
    for row in query.rows():
        found.setdefault(row.shard, []).append(row.data)
    assert found == {shard: list(told.get(shard, ())) for shard in found}
    for first, second in order:
        batches = {
            s: [n for n, rows in enumerate(query.delivered) if any(r.shard == s for r in rows)]
            for s in (first, second)
        }
        assert max(batches[first]) < min(batches[second]), (first, second)


@every
@releases
def test_a_start_delivers_what_the_case_says(one: Situation, old: bool) -> None:
    expect = one.expect
    judged(one, images(one.case), old, expect.dies, expect.delivers, expect.order)


@every
@releases
@pytest.mark.only(
    lambda one: one.expect.fixed and not one.expect.fixed.refused, "the case names no fix"
)
def test_a_start_after_the_fix_delivers_what_the_case_says(one: Situation, old: bool) -> None:
    fixed = one.expect.fixed
    files = repaired(one.case, fixed.writes)
    judged(one, files, old, fixed.dies, fixed.delivers, fixed.order)


@releases
def test_a_stream_made_anew_is_read_whole_once_the_operator_said_so(old: bool) -> None:
    """No mark of the old stream is left, and none of a shard that is to wait."""
    case = load(CASES / "spark" / "lineage-recreated.toml")
    one = Situation(case, case.expects[0], "LATEST")
    bench = Bench.on(case, images(case), {"failOnDataLoss": "true"})
    assert isinstance(bench.decide(), Ask)
    plan = decide(replace(bench.plan_case, recreated=True))
    assert isinstance(plan, Plan)
    query, died = one.run(bench.after(plan.steps), old)
    assert (died, query.offsets[0]) == ("", json.dumps({
        "shards": {case.shards[0]["ShardId"]: {"seq": "", "end": False}},
        "stream": case.stream["name"], "created": case.stream["created"],
    }))
    assert [row.data for row in query.rows()] == [*(f"s0-{i}" for i in range(6)), "n0-0", "n0-1"]
