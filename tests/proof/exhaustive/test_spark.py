"""Random lives of Spark queries: what the core forecasts and plans, the reference then does.

No connector's own behaviour goes into the expectations: what is owed is counted from what the
reference delivered before the query stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reshardctl.errors import CannotTell
from reshardctl.model import Image, WillRead, after
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Nothing, Plan
from reshardctl.testing import load_topology
from reshardctl.testing.service import Settings
from tests.proof.exhaustive.checking import first_here
from tests.proof.exhaustive.spark_scenes import NAME, Scene, images_of, live_records, scene
from tests.proof.reference.spark import LINEAGE, Run, run
from tests.proof.reference.spark_release import KNOWN
from tests.support.dialects.spark import planted
from tests.support.judging import Bench, delivered, lineage_of

pytestmark = pytest.mark.slow

BLOCK, BLOCKS = 20, 8
ACCEPTED = "reread=2400h"


Start = Callable[[Scene, list[Image], Path], Run]
"""Starts the query of a scene on these files, put into this folder."""


def starts(one: Scene, files: list[Image], to: Path) -> Run:
    """The reference's next start on these files."""
    planted(files, to)
    fake = load_topology(one.case.stream, settings=Settings(end_with_last_records=one.together))
    listed = fake.client().list_shards(StreamName=NAME)["Shards"]
    assert listed == one.case.shards, "the stream is told otherwise than it was"

    def put() -> None:
        for shard, payload in live_records(one):
            fake.put(NAME, shard, payload)

    live = put if one.case.live.shards else None
    return run(fake, NAME, to, one.release, one.options, live=live)


def violations(
    one: Scene, to: Path, seen: Counter[str], start: Start = starts
) -> Iterator[str]:
    """Everything that does not hold of one scene. start: what the forecast is held against."""
    images = one.images()
    bench = Bench.on(one.case, images, one.locator, accept=ACCEPTED)
    before = start(one, images, to / "before")
    yield from forecast(one, bench, before)
    decision = bench.decide()
    seen[type(decision).__name__] += 1
    if not isinstance(decision, Plan | Nothing):
        return
    steps = decision.steps if isinstance(decision, Plan) else ()
    repaired = after(images, steps)
    ran = start(one, repaired, to / "after") if steps else before
    if ran.died is not None:
        yield f"it dies after {len(steps)} steps: {ran.died}"
        return
    if one.whole:
        yield from nothing_lost(one, ran)
    drops = one.release != LINEAGE and KNOWN[one.release].ends_closed
    certain = one.options.starting == "TRIM_HORIZON" and not drops
    may_die = any(run.crash is not None for run in bench.replays())
    if steps and certain and before.died is None and not may_die:
        yield from some_need(one, before)
    harms = decision.after[0] if isinstance(decision, Plan) else ()
    told = {str(effect.shard) for effect in harms if effect.harm is Harm.REREAD}
    if steps:
        yield from nothing_twice(one, ran, told)
        second = Bench.on(one.case, repaired, one.locator, accept=ACCEPTED).decide()
        if not isinstance(second, Nothing):
            yield f"the second plan is not empty: {second}"
        yield from fixed_for_good(one, to / "after")


def fixed_for_good(one: Scene, left: Path) -> Iterator[str]:
    """After a fix and a start there is nothing to write: not what was just read, once more.

    awslabs from #92 on stores an idle shard as LATEST again, and may lose records of it again.
    """
    idle = one.release != LINEAGE and KNOWN[one.release].idle_latest
    logs = left.glob("sources/0/*/*/shard*") if idle else ()
    if any('"LATEST"' in log.read_text(encoding="utf-8") for log in logs):
        return
    try:
        third = Bench.on(one.case, images_of(left), one.locator, accept=ACCEPTED).decide()
    except CannotTell as refused:
        yield f"the plan after a start cannot be made: {refused.what}"
        return
    if isinstance(third, Plan) and third.steps:
        yield f"the plan after a start is not empty: {[step.title for step in third.steps]}"


def forecast(one: Scene, bench: Bench, before: Run) -> Iterator[str]:
    """What replay says will come is what comes."""
    (simulation,) = bench.replays()
    if simulation.crash is not None and not simulation.crash.certain:
        return
    if (simulation.crash is not None) != (before.died is not None):
        yield f"forecast {simulation.crash}, died {before.died}"
        return
    if before.died is not None:
        return
    lineage = lineage_of(one.case.shards, one.case.stream["created"])
    unsure = {
        shard for shard, fate in simulation.fates.items()
        if isinstance(fate, WillRead) and (not fate.at.exact or "once more" in fate.why)
    }
    for shard, wanted in delivered(one.case, simulation, lineage).items():
        if shard in unsure:  # a copy in the log may count; which one is for the file system to say
            continue
        if (got := tuple(before.delivered.get(shard, ()))) != wanted:
            yield f"{shard}: forecast {wanted}, delivered {got}"


def nothing_lost(one: Scene, ran: Run) -> Iterator[str]:
    """All that is owed comes."""
    for shard, owed in one.owed().items():
        if missing := owed - set(ran.delivered.get(shard, ())):
            yield f"{shard} owes {sorted(missing)}, and they do not come"


def some_need(one: Scene, before: Run) -> Iterator[str]:
    """Where nothing hangs on what nobody knows, only a loss or a second reading calls for a plan.

    A start at LATEST skips what will have come by then; a release that drops closed shards drops
    what may be left in them.
    """
    if not [*nothing_lost(one, before), *nothing_twice(one, before, set())]:
        yield "the plan changes a start that delivers all that is owed, once"


def nothing_twice(one: Scene, ran: Run, told: set[str]) -> Iterator[str]:
    """Nothing comes twice, and nothing again that came before, unless the plan says so."""
    for shard, payloads in ran.delivered.items():
        if twice := [payload for payload, times in Counter(payloads).items() if times > 1]:
            yield f"{shard} gives {twice} twice"
        if (again := set(payloads) & set(one.delivered.get(shard, ()))) and shard not in told:
            yield f"{shard} gives {sorted(again)} again, and no effect says so"


@pytest.mark.parametrize("start", first_here(range(0, BLOCK * BLOCKS, BLOCK), 1))
def test_queries_left_to_themselves(start: int, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(start, start + BLOCK):
        one = scene(seed, tmp_path / f"{seed}")
        found = list(violations(one, tmp_path / f"{seed}", seen))
        told = f"seed {seed}, {one.release}, {one.options.starting}, {one.acts}"
        assert not found, "\n".join([told, *found])
    assert seen["Plan"] >= 2, f"too few scenes of this block need a repair: {seen}"
