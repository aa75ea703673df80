"""Positions of any sort: what the behaviour forecasts is what the reference source does.

Two readings of Quickwit's source, written apart; neither was made for these states.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from reshardctl.consumers.quickwit.releases import App, traits_of
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.model import Image
from reshardctl.testing import load_topology
from tests.proof.reference.quickwit import RELEASES, started
from tests.support.case import Case, all_cases
from tests.support.case_stream import shard_name
from tests.support.grouped import Situation, by_case
from tests.support.judging import delivered, lineage_of

TOPOLOGIES = ("split", "merge-drained", "two-generations-drained", "gone-parent")
CASES = {case.name: case for case in all_cases("quickwit")}
EACH, ALL = 15, 60


def drawn(case: Case, seed: int) -> dict[str, str]:
    """Any shard at any place, or at none; now and then what no Kinesis source writes."""
    dice = random.Random(f"{case.name}{seed}")
    found = {}
    for number, shard in case.topology.items():
        numbers = [n for n, _, _ in shard.records]
        other = dice.choice([r[0] for s in case.topology.values() for r in s.records])
        usual = [None, "", shard.start, *numbers[::3], numbers[-1], shard.end or None]
        odd = [other, "SHARD_END", "TRIM_HORIZON", f"0{numbers[1]}", "~", f"~{numbers[2]}"]
        at = dice.choice(odd if dice.random() < 0.15 else usual)
        if at is not None:
            found[shard_name(number)] = at
    return found


def images(case: Case, positions: dict[str, str]) -> list[Image]:
    source = {
        "stream": {"S": case.stream["name"]}, "version": {"S": "0.8"}, "checkpoint": {"S": "{}"},
        "region": {"S": "us-east-1"},
    }
    return [Image("i/s", source), *(
        Image(f"i/s/{shard}", {"position": {"S": at}}) for shard, at in sorted(positions.items())
    )]


def situations() -> Iterator[Situation]:
    for name, release, seed in product(TOPOLOGIES, RELEASES, range(ALL)):
        named = f"{name}-{release}"
        yield named if seed < EACH else "more", f"{named} seed {seed}", (name, seed, release)


@by_case(situations(), [name for name, *_ in situations() if name != "more"])
def test_forecast_and_reference_agree(name: str, seed: int, release: str) -> None:
    case = CASES[name]
    positions = drawn(case, seed)
    run = started(load_topology(case.stream), case.stream["name"], positions, release)
    quickwit = CONSUMERS["quickwit"]
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    checkpoint = quickwit.parse(images(case, positions), lineage.stream)
    forecast = quickwit.simulate_start(lineage, checkpoint, App(traits_of(release)))
    assert (forecast.crash is not None) == run.died
    found = delivered(case, forecast, lineage)
    assert found == {shard: tuple(run.delivered.get(shard, ())) for shard in found}
