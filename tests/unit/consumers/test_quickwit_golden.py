"""5 000 shards of which every tenth closed parent stands at `~number`, as the real metastores of
0.9.0 and 0.8.2 wrote them (q7, Nov 2026)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.consumers.quickwit.document import Document
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Crash, Probe, Stream, after
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import (
    Ask,
    Case,
    NoSafePlan,
    Nothing,
    Plan,
    decide,
    processed_frontier,
)
from tests.support.judging import shard_of
from tests.support.spark_recorded import judged

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[2] / "golden" / "quickwit"
HELD = json.loads((GOLDEN / "0.9.0" / "q7" / "shards.json").read_text(encoding="utf-8"))["events"]
ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/events"
NOW = HELD["StreamCreationTimestamp"] + 12_000.0


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    stream = Stream(
        ARN, "events", HELD["StreamCreationTimestamp"], HELD["RetentionPeriodHours"] * 3600,
        "ACTIVE",
    )
    return Lineage(stream, [shard_of(shard) for shard in HELD["Shards"]])


def text_of(release: str) -> str:
    path = GOLDEN / release / "q7" / "metastore" / "events" / "metastore.json"
    return path.read_bytes().decode()


def case_of(lineage: Lineage, release: str, named: str | None, probed: bool = False) -> Case:
    quickwit, images = Quickwit(), Document().images(text_of(release))
    options = {"release": named} if named else {}
    candidates = quickwit.candidates(quickwit.parse(images, lineage.stream), options)
    case = Case(quickwit, StreamState(lineage, NOW), images, candidates)
    if not probed:
        return case
    line = processed_frontier(case)
    probes = {shard: Probe(line[shard].lo, True) for shard in lineage if not lineage.is_open(shard)}
    return Case(quickwit, StreamState(lineage, NOW, probes), images, candidates)


def crash_of(case: Case) -> Crash | None:
    return judged(case).simulation.crash


def test_every_end_mark_comes_off_and_nothing_else_changes(lineage):
    case = case_of(lineage, "0.9.0", None)
    crash = crash_of(case)
    assert crash is not None and (crash.cause, len(crash.by)) == (Cause.UNREADABLE, 167)
    plan = decide(case)
    assert isinstance(plan, Plan)
    (step,) = plan.steps
    text = text_of("0.9.0")
    assert Document().written(text, step.writes) == text.replace('"~', '"')
    assert isinstance(decide(_after(case, plan)), Nothing)


@pytest.mark.long
def test_the_old_release_wants_every_closed_parent_at_its_end(lineage):
    assert isinstance(decide(case_of(lineage, "0.8.2", None)), Ask)
    assert isinstance(decide(case_of(lineage, "0.8.2", "0.8.2")), NoSafePlan)
    case = case_of(lineage, "0.8.2", "0.8.2", probed=True)
    plan = decide(case)
    assert isinstance(plan, Plan)
    closed = [shard for shard in lineage if not lineage.is_open(shard)]
    written = {case.consumer.shard_of(w.key): w for step in plan.steps for w in step.writes}
    assert set(written) == set(closed) and len(closed) == 1666
    rows = {row.key: row for row in after(case.images, plan.steps)}
    for shard in closed:
        key = f"events/kinesis-events/{shard}"
        assert rows[key].attributes["position"] == {"S": lineage[shard].end}
    then = _after(case, plan)
    assert crash_of(then) is None
    assert isinstance(decide(then), Nothing)


def _after(case: Case, plan: Plan) -> Case:
    return Case(case.consumer, case.state, after(case.images, plan.steps), case.candidates)
