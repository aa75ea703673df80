"""Stores that the real kinsumers wrote, under every release and start mode that applies.

`truth.json` of each says what was unread at that moment (runs of twitchscience/kinsumer 9a48088 and
snowplow-devops/kinsumer v1.7.0, November 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.rules import Severity
from reshardctl.model import START, Cut, Image, Simulation, WillRead, after
from reshardctl.model.times import instant
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Nothing, Plan, decide
from reshardctl.planning.policy import Accept
from tests.proof.reference.kinsumer import RELEASES, run
from tests.support.dialects import kinsumer as dialect
from tests.support.golden_kinsumer import STORES, fake_of, images_of, read, topology, unread
from tests.support.golden_tables import found_in
from tests.support.judging import lineage_of
from tests.support.spark_recorded import judged

LATE = 8000
"""Seconds after the stream's creation: behind every reshard of the recordings."""
FORKS = RELEASES[1:]
every_store = pytest.mark.parametrize(
    "store", STORES, ids=[f"{s.parent.name}-{s.name}" for s in STORES]
)
INHERENT = {"RSH201"}
"""kinsumer reads children beside their unread parents, whatever is stored."""


def case_of(store: Path, options: Mapping[str, str], images: list[Image] | None = None,
            accept: float = 0.0) -> Case:
    kinsumer = CONSUMERS["kinsumer"]
    stream = topology(store)
    lineage = lineage_of(read(store / "shards.json")["Shards"], stream["created"])
    rows = images_of(store) if images is None else images
    state = StreamState(lineage, stream["created"] + stream["now"])
    candidates = kinsumer.candidates(kinsumer.parse(rows), options)
    return Case(kinsumer, state, rows, candidates, accept=Accept(reread=accept))


def forecast(store: Path, run_: Simulation) -> dict[str, tuple[str, ...]]:
    """Payloads from where each shard is read, by the numbers of `truth.json`."""
    numbers = read(store / "truth.json")["sequence_numbers"]
    found: dict[str, tuple[str, ...]] = {}
    for shard, fate in run_.fates.items():
        assert isinstance(fate, WillRead)
        payloads = [p for p, n in numbers[shard].items() if _behind(int(n), fate.at.lo)]
        if payloads:
            found[shard] = tuple(payloads)
    return found


def _behind(number: int, at: Cut) -> bool:
    if at == START:
        return True
    if at.by_time:
        assert at.time is not None
        return (number >> 36 & (1 << 36) - 1) >= at.time
    return at.rank is at.rank.INSIDE and number > at.number


def codes(case: Case, at_least: Severity) -> set[str]:
    return {finding.code for finding in found_in(case) if finding.severity >= at_least}


def delivered(store: Path, images: list[Image], initial: str, release: str) -> dict:
    ran = run(fake_of(store), "st", dialect.tables(images), initial, release)
    assert not ran.died
    return {shard: tuple(payloads) for shard, payloads in ran.delivered.items()}


@every_store
@pytest.mark.parametrize("release", RELEASES)
def test_nothing_is_lost_from_the_horizon(store: Path, release: str) -> None:
    case = case_of(store, {"release": release, "initial": "TRIM_HORIZON"})
    simulation = case.consumer.simulate_start(
        case.state.lineage, case.checkpoint(), case.candidates[0].app
    )
    assert forecast(store, simulation) == unread(store)
    assert delivered(store, images_of(store), "TRIM_HORIZON", release) == unread(store)
    assert codes(case, Severity.WARNING) <= INHERENT
    assert codes(case, Severity.ERROR) == set()
    assert decide(case) == Nothing()


@every_store
@pytest.mark.parametrize("release", FORKS)
def test_a_late_start_by_time_is_mended(store: Path, release: str) -> None:
    """Children without a row lose what was written before the time; a row pins them."""
    created = topology(store)["created"]
    options = {"release": release, "initial": f"AT_TIMESTAMP:{instant(created + LATE)}"}
    late = f"AT_TIMESTAMP:{created + LATE}"
    case = case_of(store, options)
    decision = decide(case)
    unseen = store.name in ("g2-split-parent-behind", "g3-split-parent-finished", "g4-merge",
                            "g5-second-generation")  # fmt: skip
    assert isinstance(decision, Plan if unseen else Nothing)
    if isinstance(decision, Plan):
        assert codes(case, Severity.ERROR) == {"RSH209"}
        assert delivered(store, images_of(store), late, release) != unread(store)
    steps = decision.steps if isinstance(decision, Plan) else ()
    mended = after(case.images, steps)
    assert delivered(store, mended, late, release) == unread(store)
    again = case_of(store, options, mended)
    assert codes(again, Severity.ERROR) == set()
    assert decide(again) == Nothing()


@every_store
def test_an_early_start_by_time_loses_nothing(store: Path) -> None:
    created = topology(store)["created"]
    options = {"release": "snowplow-1.7", "initial": f"AT_TIMESTAMP:{instant(created)}"}
    assert decide(case_of(store, options)) == Nothing()
    early = f"AT_TIMESTAMP:{created}"
    assert delivered(store, images_of(store), early, "snowplow-1.7") == unread(store)


@every_store
def test_where_children_were_never_seen_the_plan_is_right_for_every_start_mode(store: Path) -> None:
    case = case_of(store, {})
    decision = decide(case)
    if store.name in ("g1-healthy-mid-read", "g6-latest-bootstrap"):
        assert decision == Nothing()
        return
    assert isinstance(decision, Plan)
    rows = after(images_of(store), decision.steps)
    for mode in ("TRIM_HORIZON", f"AT_TIMESTAMP:{int(case.state.now)}"):
        assert delivered(store, rows, mode, "snowplow-1.7") == unread(store), mode


def test_a_finished_shard_without_a_number_is_told() -> None:
    """Were the ShardCache deleted, the closed shard of g6 would be read whole (run, case c')."""
    (store,) = [s for s in STORES if s.name == "g6-latest-bootstrap"]
    case = case_of(store, {"release": "snowplow-1.7", "initial": "TRIM_HORIZON"})
    notes = judged(case).simulation.notes
    assert any("finished without a number: 0" in note for note in notes)
    without = [i for i in images_of(store) if i.key != "metadata/ShardCache"]
    assert "s0-0" in delivered(store, without, "TRIM_HORIZON", "snowplow-1.7")[
        "shardId-000000000000"
    ]
    broken = case_of(store, {"release": "snowplow-1.7", "initial": "TRIM_HORIZON"}, without)
    assert codes(broken, Severity.WARNING) == {"RSH214"}
    decision = decide(broken)
    assert isinstance(decision, Plan)
    mended = after(without, decision.steps)
    assert delivered(store, mended, "TRIM_HORIZON", "snowplow-1.7") == {}
