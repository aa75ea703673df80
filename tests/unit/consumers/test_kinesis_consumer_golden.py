"""What the real kinesis-consumer wrote, under every release and start mode: forecast and decision.

`truth.json` says what had been delivered when the store was recorded (v0.5.0, November 2026). What
the releases and start modes do with such stores is the table of runs that the cases cite.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Cut, Simulation, Stream, WillRead, after
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Decision, NoSafePlan, Nothing, Plan, decide
from reshardctl.planning.policy import Accept
from tests.proof.reference import kinesis_consumer as library
from tests.proof.reference import kinesis_consumer_telegraf as telegraf
from tests.support.golden_kinesis_consumer import (
    APP,
    RELEASES,
    STARTS,
    STORES,
    STREAM,
    fake_of,
    images_of,
    numbers,
    read,
    rows_of,
    topology,
    unread,
)
from tests.support.judging import shard_of

EVERY = [
    pytest.param(store, release, start, id=f"{store.name}-{release}-{start}")
    for store in STORES for release in RELEASES for start in STARTS
]
every = pytest.mark.parametrize(("store", "release", "start"), EVERY)
LIBRARY, MASTER, TELEGRAF = RELEASES
LATEST, TRIM_HORIZON = STARTS
WRITTEN = {
    ("g2-split-parent-behind", LATEST): {2, 3},
    ("g3-split-parent-finished", LATEST): {2, 3},
    ("g4-merge", LATEST): {2},
    ("g5-second-generation", LATEST): {3, 4},
    ("g6-latest-bootstrap", LATEST): {2},
}
"""Shards whose beginning has to be written for the library to lose nothing: the children that it
would begin at LATEST (rows a, b3, c of the table of runs). Elsewhere there is nothing to write: the
children 1 and 2 of g5 go on from their rows, and `truth.json` has every record before those."""
UNSOUND = {"g2-split-parent-behind", "g3-split-parent-finished", "g4-merge", "g5-second-generation"}
"""Where master at LATEST has no line: a row for a child ends its unread ancestors (b4, b5)."""


def case_of(store: Path, release: str, start: str, images: list[Any] | None = None) -> Case:
    options = {"app": APP, "release": release, "initial": start}
    consumer = CONSUMERS["kinesis-consumer"].for_options(options)
    stream = topology(store)
    arn = f"arn:aws:kinesis:us-east-1:123456789012:stream/{STREAM}"
    of = Stream(arn, STREAM, stream["created"], 24 * 3600, "ACTIVE")
    lineage = Lineage(of, [shard_of(s) for s in read(store / "shards.json")["Shards"]])
    rows = images_of(store) if images is None else images
    candidates = consumer.candidates(consumer.parse(rows, lineage.stream), options)
    state = StreamState(lineage, stream["created"] + stream["now"])
    return Case(consumer, state, rows, candidates, accept=Accept(reread=3 * 3600))


def forecast(case: Case) -> Simulation:
    (candidate,) = case.candidates
    return case.consumer.simulate_start(case.state.lineage, case.checkpoint(), candidate.app)


def payloads(store: Path, run: Simulation) -> dict[str, list[str]]:
    """What a forecast delivers, by the recorded numbers. Nothing here waits for ever."""
    found = {}
    for shard, fate in run.fates.items():
        assert isinstance(fate, WillRead)
        found[str(shard)] = [
            p for p, number in numbers(store)[shard].items() if _behind(number, fate.at.lo)
        ]
    return found


def _behind(number: str, at: Cut) -> bool:
    return at == START or (at not in (DONE, TIP) and int(number) > at.number)


@every
def test_the_forecast_is_what_the_reference_does(store: Path, release: str, start: str) -> None:
    model = telegraf.run if release == TELEGRAF else library.run
    ran = model(fake_of(store), STREAM, rows_of(store), start, release)
    expected = {shard: ran.delivered.get(shard, []) for shard in numbers(store)}
    assert payloads(store, forecast(case_of(store, release, start))) == expected


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
def test_the_forecast_is_what_the_recording_calls_unread(store: Path) -> None:
    """v0.5.0 with TRIM_HORIZON delivers it all; of g6, which began at LATEST, the shards without a
    row are read whole, and the one with a row goes on from it. So does the reference, see above."""
    due = unread(store)
    if store.name == "g6-latest-bootstrap":
        due["shardId-000000000001"] = []
    assert payloads(store, forecast(case_of(store, LIBRARY, TRIM_HORIZON))) == due


@every
def test_the_decision(store: Path, release: str, start: str) -> None:
    decision = decide(case_of(store, release, start))
    if release == MASTER and start == LATEST and store.name in UNSOUND:
        assert isinstance(decision, NoSafePlan)
        assert any("TRIM_HORIZON" in way for way in decision.ways_out)
        return
    assert _written(decision) == WRITTEN.get((store.name, start), set())


@every
def test_after_the_fix_nothing_owed_is_missed(store: Path, release: str, start: str) -> None:
    case = case_of(store, release, start)
    decision = decide(case)
    if not isinstance(decision, Plan):
        pytest.skip("there is nothing to write")
    mended = case_of(store, release, start, after(case.images, decision.steps))
    found = payloads(store, forecast(mended))
    for shard, due in unread(store).items():
        if store.name != "g6-latest-bootstrap" or shard.endswith("2"):
            assert found[shard][-len(due):] == due or not due
    assert isinstance(decide(mended), Nothing), "the second plan is empty"


def _written(decision: Decision) -> set[int]:
    assert isinstance(decision, Plan | Nothing), decision
    steps = decision.steps if isinstance(decision, Plan) else ()
    return {int(write.key[-12:]) for step in steps for write in step.writes}
