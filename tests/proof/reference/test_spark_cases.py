"""Every Spark case through the reference of the connectors: as it stands, and repaired by hand.

Case and reference were written from the same runs and sources but apart from each other, so where
they differ one of them is wrong. Whether a closed shard's last records come with its end is taken
in turn over the situations of a case; `scripts/test long` has each both ways.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reshardctl.model import Image
from reshardctl.testing import load_topology
from reshardctl.testing.service import Settings
from tests.proof.reference.spark import LINEAGE, Run, Sink, run
from tests.proof.reference.spark_files import numbered
from tests.proof.reference.spark_release import KNOWN, Options
from tests.support.case import Case, Expect, all_cases
from tests.support.dialects.spark import images, planted, repaired
from tests.support.grouped import by_case
from tests.support.own_folders import in_memory

pytestmark = pytest.mark.slow

SINKS = {"": None, "other": None, "file": "written", "file-unwritten": "unwritten"}


@dataclass(frozen=True, slots=True)
class Situation:
    """One case under one start position and one release."""

    case: Case
    expect: Expect
    initial: str
    release: str

    def __str__(self) -> str:
        told = [self.case.name, self.initial, self.release, *self.expect.options.values()]
        return "-".join([*told, *(["probe"] if self.expect.probe else [])])

    def start(self, files: list[Image], to: Path, *, together: bool) -> Run:
        """The query's next start on these files."""
        planted(files, to)
        settings = Settings(end_with_last_records=together)
        fake = load_topology(self.case.stream, settings=settings)
        name = self.case.stream["name"]
        live = self.case.live

        def put() -> None:
            for shard in live.shards:
                for index in range(live.n):
                    fake.put(name, shard, f"n{shard}-{index}")

        key = self.case.state["query"].get("key", "0")
        return run(
            fake, name, to, self.release, self.options(), key=key, live=put, sink=self.sink(to)
        )

    def options(self) -> Options:
        """What the query is started with."""
        given = self.expect.options
        fails = given.get("failOnDataLoss")
        limit = int(given.get("maxFetchRecordsPerShard", 100_000))
        name, _, after = self.initial.partition(":+")
        at = f":{int((self.case.stream['created'] + float(after)) * 1000)}" if after else ""
        return Options(name + at, None if fails is None else fails == "true", limit=limit)

    def sink(self, root: Path) -> Sink:
        """A file sink holds every committed batch, and what ``sink`` says of the newest one."""
        kind = SINKS[self.expect.options.get("sink", "")]
        if kind is None:
            return Sink()
        committed, planned = numbered(root / "commits"), numbered(root / "offsets")
        return Sink(log=[*committed, *(planned[-1:] if kind == "written" else [])])


def _situations() -> Iterator[Situation]:
    for case in all_cases("spark"):
        for expect in case.expects:
            for initial in expect.initial:
                for release in expect.releases:
                    if release in (*KNOWN, LINEAGE):
                        yield Situation(case, expect, initial, release)


SITUATIONS = list(_situations())
ENDS = {True: "end-with-records", False: "end-after"}
"""Whether a closed shard's last records come with its end, or one answer before it."""


def grouped(chosen: Callable[[int], Iterable[bool]]) -> Any:
    """Each situation of a case, with the ends that are chosen for its place among them."""
    places: Counter[str] = Counter()
    found = []
    for one in SITUATIONS:
        for together in chosen(places[one.case.name]):
            found.append((one.case.name, f"{one} {ENDS[together]}", (one, together)))
        places[one.case.name] += 1
    return by_case(found)


def as_it_stands(one: Situation, together: bool) -> None:
    ran = started(one, images(one.case), together=together)
    assert (ran.died is not None) == one.expect.dies, ran.died
    if not one.expect.dies and one.expect.options.get("sink") != "file":
        assert delivered(one.case, ran) == wanted(one.case, dict(one.expect.delivers))
    in_order(ran, one.expect.order)


def after_the_fix(one: Situation, together: bool) -> None:
    fixed = one.expect.fixed
    assert fixed is not None
    ran = started(one, repaired(one.case, fixed.writes), together=together)
    assert (ran.died is not None) == fixed.dies, ran.died
    assert delivered(one.case, ran) == wanted(one.case, dict(fixed.delivers))
    in_order(ran, fixed.order)


def started(one: Situation, files: list[Image], *, together: bool) -> Run:
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        return one.start(files, Path(folder), together=together)


def delivered(case: Case, ran: Run) -> dict[str, tuple[str, ...]]:
    """Payloads by shard; a shard that gave nothing is named."""
    shards = [shard["ShardId"] for shard in case.shards]
    return {shard: tuple(ran.delivered.get(shard, ())) for shard in shards}


def wanted(case: Case, told: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What the case says of the listed shards."""
    return {shard["ShardId"]: tuple(told.get(shard["ShardId"], ())) for shard in case.shards}


def in_order(ran: Run, pairs: tuple[tuple[str, str], ...]) -> None:
    """Every batch of the first shard comes before any of the second: within one, none is first."""
    for first, second in pairs:
        places = {
            shard: [place for place, (_, rows) in enumerate(ran.batches) if rows.get(shard)]
            for shard in (first, second)
        }
        if all(places.values()):
            assert max(places[first]) < min(places[second]), (first, second)


has_fix = pytest.mark.only(
    lambda one: one.expect.fixed and not one.expect.fixed.refused, "the case names no fix"
)


@grouped(lambda place: [place % 2 == 0])
def test_a_start_delivers_what_the_case_says(one: Situation, together: bool) -> None:
    as_it_stands(one, together)


@grouped(lambda place: [place % 2 == 1])
@has_fix
def test_a_start_after_the_fix_delivers_what_the_case_says(one: Situation, together: bool) -> None:
    after_the_fix(one, together)


@pytest.mark.long
@grouped(lambda place: [place % 2 == 1])
def test_a_start_does_so_with_the_other_end(one: Situation, together: bool) -> None:
    as_it_stands(one, together)


@pytest.mark.long
@grouped(lambda place: [place % 2 == 0])
@has_fix
def test_a_start_after_the_fix_does_so_with_the_other_end(one: Situation, together: bool) -> None:
    after_the_fix(one, together)
