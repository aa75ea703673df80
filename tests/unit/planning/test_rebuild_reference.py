"""Stores rebuilt from random sinks: the reference consumers deliver all that is missing, and read
again no more than the plan prints.

The sink holds a random prefix of every shard, now and then with holes; the store is empty, or has
rows at any places. The reference consumers are written from the libraries' sources and know
nothing of sinks, lines or plans.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from reshardctl.auditing.sink_frontier import SinkFrontier, line_json, sink_frontier_of
from reshardctl.auditing.sink_frontier import line as saved_line
from reshardctl.codec.strict import JsonPath
from reshardctl.errors import Refused
from reshardctl.model import Image, Step, after, at_number
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Case as PlanCase
from reshardctl.planning.plan import (
    Decision,
    NoSafePlan,
    Nothing,
    Plan,
    decide,
    judge,
    processed_frontier,
)
from reshardctl.planning.policy import EVERYTHING, Accept
from reshardctl.planning.rebuild import rebuilt
from tests.proof.exhaustive.histories import random_stream
from tests.support.case import Case, from_table
from tests.support.dialects import dialect_of
from tests.support.judging import Bench, options_of
from tests.support.sinks import libraries
from tests.support.sinks.random import drawn, facts, missing

pytestmark = pytest.mark.slow

FEW, ALL = range(30), range(120)
each = pytest.mark.parametrize("seeds", [FEW, pytest.param(ALL, marks=pytest.mark.long)], ids=str)
WAITING = ("kcl",)
TAKES_ALL = Accept(reread=EVERYTHING, disorder=True)


@dataclass(frozen=True)
class Trial:
    """One store, one sink and what is made of them."""

    case: Case
    initial: str
    release: str
    images: list[Image]
    sink: dict[str, frozenset[str]]
    line: SinkFrontier
    plan_case: PlanCase

    @cached_property
    def decision(self) -> Decision:
        return decided(self.plan_case)

    @property
    def steps(self) -> tuple[Step, ...]:
        found = self.decision
        return found.steps if isinstance(found, Plan) else ()


def decided(case: PlanCase) -> Decision:
    empty = case.consumer.empty(case.checkpoint())
    return rebuilt(case) if empty else decide(case)


@cache
def trial(consumer: str, seed: int) -> Trial | None:
    """The trial of a seed, made once for all tests here; `None` where the sink holds nothing that a
    line could be taken from."""
    rng = Random(f"rebuild {consumer} {seed}")
    case = _case(consumer, rng)
    initial = rng.choice(libraries.STARTS[consumer])
    release = rng.choice(libraries.RELEASES[consumer])
    images = libraries.empty(case) if rng.random() < 0.5 else dialect_of(consumer).images(case)
    sink = drawn(case, rng)
    streamed = rng.random() < 0.7
    options = options_of(case, initial, release) | (
        {"app": "app"} if consumer == "kinesis-consumer" else {}
    )
    bench = Bench.on(case, images, options)
    try:
        cut = rng if rng.random() < 0.3 else None
        found = facts(case, sink, streamed=streamed, proofs=rng.random() < 0.8, cut=cut)
        line = sink_frontier_of(found, bench.plan_case.state.lineage, inside=True)
    except Refused:
        return None
    plan_case = replace(bench.plan_case, line=line.spans, accept=TAKES_ALL)
    return Trial(case, initial, release, images, sink, line, plan_case)


def _case(consumer: str, rng: Random) -> Case:
    stream = random_stream(rng)
    table = {
        "title": "random", "source": "reference consumer", "consumer": consumer,
        "stream": stream, "rows": [],
        "expect": [{
            "initial": list(libraries.STARTS[consumer][:1]),
            "releases": list(libraries.RELEASES[consumer][:1]), "delivers": {}, "findings": [],
        }],
    }  # fmt: skip
    bare = from_table(Path("random.toml"), deepcopy(table))
    return from_table(Path("random.toml"), table | {"rows": libraries.rows(bare, rng)})


def trials(consumer: str, seeds: range) -> Iterator[tuple[int, Trial]]:
    for seed in seeds:
        if (one := trial(consumer, seed)) is not None:
            yield seed, one


def shown(one: Trial, decision: Decision) -> tuple[Effect, ...]:
    """What the operator is told of the next start."""
    if isinstance(decision, Plan):
        return decision.after[0]
    processed = processed_frontier(one.plan_case)
    want = one.plan_case.policy.frontier(one.plan_case.state.lineage, processed)
    return judge(one.plan_case, want, processed)[0].effects


def above(case: Case, shard: int) -> set[int]:
    """All ancestors."""
    parents = case.topology[shard].parents
    return {*parents, *(a for parent in parents for a in above(case, parent))}


def inside(one: Trial, effect: Effect, payload: str) -> bool:
    cut = at_number(one.case.number_of(payload))
    return effect.since < cut <= effect.until


@each
@pytest.mark.parametrize("consumer", sorted(libraries.STARTS))
def test_all_that_is_missing_comes_and_no_more_again_than_is_printed(
    consumer: str, seeds: range
) -> None:
    outcomes: Counter[str] = Counter()
    for seed, one in trials(consumer, seeds):
        decision = one.decision
        outcomes[type(decision).__name__] += 1
        if isinstance(decision, NoSafePlan):
            continue
        assert isinstance(decision, Plan | Nothing), (seed, decision)
        images = after(one.images, one.steps)
        ran = libraries.start(one.case, images, one.initial, one.release)
        effects = shown(one, decision)
        excused = {e.shard for e in effects if e.harm in (Harm.SKIPPED, Harm.STALLED) and e.shard}
        assert not ran.died, seed
        for shard, unread in missing(one.case, one.sink).items():
            lost = unread - set(ran.delivered.get(shard, ()))
            assert not lost or shard in excused, (seed, shard, lost, decision)
        for shard, payloads in ran.delivered.items():
            told = [e for e in effects if e.shard == shard and e.harm is Harm.REREAD]
            for payload in set(payloads) & one.sink.get(shard, frozenset()):
                assert any(inside(one, e, payload) for e in told), (seed, shard, payload)
        _in_order(one, ran, effects, seed)
    assert outcomes["Plan"] > len(seeds) / 3, outcomes


def _in_order(
    one: Trial, ran: libraries.Started, effects: tuple[Effect, ...], seed: int
) -> None:
    """No record of a shard before the last that an ancestor owed, where nothing was said of it.
    From nothing, a library that waits for parents never comes to that."""
    if one.case.consumer in WAITING and not one.images:
        assert all(e.past for e in effects if e.harm is Harm.DISORDERED), (seed, effects)
    at = {payload: place for place, payload in reversed(list(enumerate(ran.order)))}
    lost = missing(one.case, one.sink)
    for shard in one.case.topology if at else ():
        name = libraries.shard_name(shard)
        begun = min((at[p] for p in ran.delivered.get(name, ()) if p in at), default=None)
        for ancestor in above(one.case, shard):
            unread = [at[p] for p in lost.get(libraries.shard_name(ancestor), ()) if p in at]
            if unread and begun is not None and begun < max(unread):
                told = [e for e in effects if e.harm is Harm.DISORDERED and e.shard == name]
                assert any(not e.past for e in told), (seed, name, ancestor)


@each
@pytest.mark.parametrize("consumer", sorted(libraries.STARTS))
def test_behind_a_rebuild_nothing_is_left_to_write(consumer: str, seeds: range) -> None:
    for seed, one in trials(consumer, seeds):
        if isinstance(one.decision, Plan):
            images = after(one.images, one.steps)
            again = decided(replace(one.plan_case, images=images))
            assert not isinstance(again, Plan), (seed, again)


def test_a_saved_line_comes_back_as_it_was() -> None:
    lines = [one.line for consumer in libraries.STARTS for _, one in trials(consumer, FEW)]
    assert len(lines) > len(FEW)
    for line in lines:
        text = json.dumps(line_json(line))
        back = saved_line(json.loads(text), JsonPath("plan"))
        assert back == line and line_json(back) == line_json(line)
        assert {s: (x.lo.text, x.lo.quiet, x.hi.text) for s, x in back.spans.items()} == {
            s: (x.lo.text, x.lo.quiet, x.hi.text) for s, x in line.spans.items()
        }
