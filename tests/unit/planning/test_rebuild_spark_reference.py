"""Checkpoint directories that were deleted, written anew from random sinks: the reference query
delivers all that is missing, no child before what its ancestors owe, and reads again no more than
the plan prints.

The reference is written from Spark's and the connectors' sources, apart from the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from reshardctl.auditing.sink_frontier import sink_frontier_of
from reshardctl.errors import Refused
from reshardctl.model import after, at_number
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import NoSafePlan, Plan
from reshardctl.planning.policy import EVERYTHING, Accept
from reshardctl.planning.rebuild import rebuilt
from reshardctl.testing import load_topology
from tests.proof.exhaustive.histories import random_stream
from tests.proof.reference.spark import Run, Sink, run
from tests.proof.reference.spark_release import Options
from tests.support.case import Case, from_table
from tests.support.case_stream import shard_name
from tests.support.dialects.spark import planted
from tests.support.judging import Bench
from tests.support.sinks.random import drawn, facts, missing
from tests.unit.planning.test_rebuild_reference import above

pytestmark = pytest.mark.slow

SEEDS = [range(10), pytest.param(range(10, 30), marks=pytest.mark.long)]
RELEASES = ("kinesis-lineage", "qubole-1.2.0_spark-3.0")


@dataclass(frozen=True)
class Trial:
    """One sink, and what is made of it. batch: the last in the file sink's log."""

    case: Case
    sink: dict[str, frozenset[str]]
    batch: int
    fails: bool
    decision: Plan | NoSafePlan

    def start(self, release: str, root: Path, starting: str) -> Run:
        """The query's next start on the directory that was written."""
        assert isinstance(self.decision, Plan)
        planted(after([], self.decision.steps), root)
        fake = load_topology(self.case.stream)

        def live() -> None:
            for shard in self.case.topology.values():
                if not shard.end:
                    fake.put(self.case.stream["name"], shard.id, f"n{shard.id}-0")

        sink = Sink(log=list(range(self.batch + 1)))
        name = self.case.stream["name"]
        options = Options(starting, self.fails)
        return run(fake, name, root, release, options, live=live, sink=sink)


def trial(release: str, seed: int) -> Trial | None:
    rng = Random(f"checkpoint {release} {seed}")
    table = {
        "title": "random", "source": "reference consumer", "consumer": "spark",
        "stream": random_stream(rng), "query": {"connector": "lineage"}, "batches": [],
        "expect": [{"initial": ["LATEST"], "releases": [release], "delivers": {}, "findings": []}],
    }  # fmt: skip
    case = from_table(Path("random.toml"), deepcopy(table))
    sink, batch, fails = drawn(case, rng), rng.choice((0, 1, 7, 8, 9, 40)), rng.random() < 0.7
    try:
        cut = rng if rng.random() < 0.3 else None
        found = facts(case, sink, streamed=rng.random() < 0.7, proofs=True, cut=cut)
        said = {"release": release, "batch": str(batch), "failOnDataLoss": str(fails).lower()}
        bench = Bench.on(case, [], {**said, "sink": "file"})
        line = sink_frontier_of(found, bench.plan_case.state.lineage, inside=False)
    except Refused:
        return None
    accept = Accept(reread=EVERYTHING, disorder=True)
    decision = rebuilt(replace(bench.plan_case, line=line.spans, accept=accept))
    assert isinstance(decision, Plan | NoSafePlan), (seed, decision)
    return Trial(case, sink, batch, fails, decision)


def trials(release: str, seeds: range) -> Iterator[tuple[int, Trial]]:
    for seed in seeds:
        if (one := trial(release, seed)) is not None:
            yield seed, one


def told(one: Trial, shard: str, payload: str) -> bool:
    """Whether the plan says that this record comes again."""
    assert isinstance(one.decision, Plan)
    cut = at_number(one.case.number_of(payload))
    return any(
        e.harm is Harm.REREAD and e.shard == shard and e.since < cut <= e.until
        for run in one.decision.after for e in run
    )


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_all_that_is_missing_comes_in_order_and_no_more_again_than_is_printed(
    release: str, seeds: range, tmp_path: Path
) -> None:
    outcomes: Counter[str] = Counter()
    for seed, one in trials(release, seeds):
        outcomes[type(one.decision).__name__] += 1
        if isinstance(one.decision, NoSafePlan):
            continue
        starting = Random(seed).choice(["LATEST", "TRIM_HORIZON"])
        ran = one.start(release, tmp_path / str(seed), starting)
        assert ran.died is None, (seed, ran.died)
        effects = one.decision.after[0]
        lost = missing(one.case, one.sink)
        for shard, unread in lost.items():
            gone = unread - set(ran.delivered.get(shard, ()))
            said = _told(effects, shard, Harm.SKIPPED, Harm.STALLED)
            assert not gone or said, (seed, shard, gone)
        for shard, payloads in ran.delivered.items():
            assert len(payloads) == len(set(payloads)), (seed, shard)
            for payload in set(payloads) & one.sink.get(shard, frozenset()):
                assert told(one, shard, payload), (seed, shard, payload)
        _in_order(one, ran, lost, effects, seed)
    assert outcomes["Plan"] > len(seeds) / 3, outcomes


def _told(effects: tuple[Effect, ...], shard: str, *harms: Harm) -> bool:
    return any(e.shard == shard and e.harm in harms for e in effects)


def _in_order(
    one: Trial, ran: Run, lost: dict[str, set[str]], effects: tuple[Effect, ...], seed: int
) -> None:
    """No record of a shard in a batch before the last that an ancestor owed."""
    at = {p: n for n, (_, rows) in enumerate(ran.batches) for held in rows.values() for p in held}
    for shard in one.case.topology:
        name = shard_name(shard)
        for ancestor in above(one.case, shard):
            unread = [at[p] for p in lost.get(shard_name(ancestor), ()) if p in at]
            first = min((at[p] for p in ran.delivered.get(name, ())), default=None)
            if unread and first is not None and first <= max(unread):
                assert _told(effects, name, Harm.DISORDERED), (seed, name, ancestor)
