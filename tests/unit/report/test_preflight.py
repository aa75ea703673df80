"""The forecast is what `inspect` says once the reshard has really been made.

The fake service makes it; the rows stay as they are. Random streams and tables of the simulator:
such as a worker left, damaged ones, and arbitrary ones.
"""

from __future__ import annotations

import dataclasses
import re
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.consumers.kcl.releases import RELEASES
from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import ReshardError
from reshardctl.kinesis import Kinesis
from reshardctl.lineage import Lineage, parse_reshard
from reshardctl.lineage.reshards import TAKES
from reshardctl.model import START, Probe, ShardId, shard_id
from reshardctl.planning.plan import Plan
from reshardctl.planning.policy import POLICIES, Accept
from reshardctl.report.forecast import foreseen
from reshardctl.report.report import RepairOptions, Report, make
from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.service import Settings
from tests.proof.exhaustive.scenes import Scene, scene
from tests.support.case import Case, all_cases
from tests.support.covering import few
from tests.support.fake_time import sleep_of
from tests.support.grouped import by_case
from tests.support.judging import images_of
from tests.support.judging import options_of as options_of_case
from tests.support.reshards import reshard
from tests.unit.lineage.test_foreseen import some_reshard

FEW, SCENES = 50, 300
_DIGITS = re.compile(r"\d{56}|\d{4}-\d\d-\d\dT[\d:]+Z|\d+(\.\d+)?[smhd]")


def fake_of(one: Scene) -> FakeKinesis:
    return load_topology(
        {"name": "orders", **one.case.stream}, settings=Settings(reshard_seconds=TAKES)
    )


def listed(fake: FakeKinesis) -> Lineage:
    return Kinesis.of_client(fake.client(), sleep=sleep_of(fake)).lineage("orders")


def snapshot(one: Scene, fake: FakeKinesis, options: str = "") -> Snapshot:
    options = options or f"initial={one.initial}&release={one.release}"
    return Snapshot(
        parse(f"kcl://app?{options}"), listed(fake), tuple(images_of(one.case.items())),
        {"medium": "dynamodb"}, fake.clock.now(),
    )


def judged(taken: Snapshot, repair_options: RepairOptions) -> dict[str, Any] | str:
    """What a report says, without times and numbers; the name of what it raises."""
    try:
        report = make(taken, repair_options)
    except ReshardError as error:
        return type(error).__name__
    return {
        "findings": [
            (f.code, str(f.severity), f.shards, f.what, f.costs, f.when) for f in report.findings
        ],
        "effects": [
            (f.code, str(e.harm), e.shard, e.certain, e.by, e.since.rank, e.until.rank, e.gone)
            for f in report.findings for e in f.effects
        ],
        "decision": said_of(report),
        "notes": report.notes,
    }


def said_of(report: Report) -> Any:
    decision = report.decision
    if isinstance(decision, Plan):
        return [(w.key, w.change) for step in decision.steps for w in step.writes]
    return type(decision).__name__, _DIGITS.sub("#", str(getattr(decision, "why", "")))


def options_of(one: Scene, seed: int) -> str:
    """Of every generation, and with the start mode left open: findings of several candidates."""
    release = RELEASES[seed % len(RELEASES)].release
    initial = "" if seed % 3 == 0 else f"initial={one.initial}&"
    return f"{initial}release={release}"


def reshards_of(seed: int, fake: FakeKinesis) -> list[str]:
    rng = Random(f"preflight {seed}")
    words = [some_reshard(rng, listed(fake))]
    if rng.random() < 0.3:
        told = foreseen_lineage(fake, words)
        words.append(some_reshard(rng, told))
    return words


def foreseen_lineage(fake: FakeKinesis, words: list[str]) -> Lineage:
    from reshardctl.lineage import foresee

    return foresee(listed(fake), list(map(parse_reshard, words)), fake.clock.now()).lineage


@pytest.mark.parametrize(
    "seeds", [range(FEW), pytest.param(range(FEW, SCENES), marks=pytest.mark.long)], ids=str
)
def test_the_forecast_is_what_inspect_says_after_the_reshard(seeds: range) -> None:
    for seed in seeds:
        one = scene(seed)
        if not one.rows:
            continue
        fake = fake_of(one)
        repair_options = RepairOptions(POLICIES["lossless"], Accept(reread=one.reread))
        options = options_of(one, seed)
        words = reshards_of(seed, fake)
        now = snapshot(one, fake, options)
        told = judged(foreseen(now, list(map(parse_reshard, words))), repair_options)
        for word in words:
            reshard(fake, "orders", word)
        really = judged(snapshot(one, fake, options), repair_options)
        assert told == really, (seed, words)


def test_most_forecasts_have_something_to_say() -> None:
    """Or the property above would be held by silence."""
    new = quiet = 0
    for seed in range(60):
        one = scene(seed)
        if not one.rows:
            continue
        fake = fake_of(one)
        now = snapshot(one, fake)
        reshards = list(map(parse_reshard, reshards_of(seed, fake)))
        before, after = (judged(s, RepairOptions()) for s in (now, foreseen(now, reshards)))
        new += before != after
        quiet += isinstance(after, dict) and not after["findings"]
    assert new > 20 and quiet > 5, (new, quiet)


def test_an_open_shard_read_to_its_tip_is_not_read_to_its_end() -> None:
    """What a probe saw of it holds until the next record, and the reshard comes later."""
    one = next(s for s in map(scene, range(50)) if len(s.rows) > 1)
    now = snapshot(one, fake_of(one))
    (open_one, *_), (closed, *_) = list(now.lineage.open_shards()), [*now.lineage]
    for probe, kept in ((Probe(START, True), False), (Probe(START, False, count=1), True)):
        with_probes = replace(now, probes={open_one: probe, ShardId("other"): Probe(START, True)})
        after = foreseen(with_probes, [parse_reshard(f"split={int(open_one[8:])}")])
        assert (open_one in after.probes) is kept
        assert "other" in after.probes
        assert closed in after.lineage


def test_what_it_says_of_itself() -> None:
    one = next(s for s in map(scene, range(50)) if s.rows)
    now = snapshot(one, fake_of(one))
    shard, first = next(now.lineage.open_shards()), now.lineage.newest_index() + 1
    after = foreseen(now, [parse_reshard(f"split={int(shard[8:])}")])
    told = after.foreseen
    assert told is not None and now.foreseen is None
    assert told.closes == (shard,) and told.born == (shard_id(first), shard_id(first + 1))
    assert told.words() == f"split={int(shard[8:])}"
    assert after.now == told.until > now.now
    assert after.images == now.images


EVERY_CASE = {
    case.name: case for folder in ("kcl", "kcl-tables") for case in all_cases(folder)
    if case.items()
}  # fmt: skip


@by_case(((name, "", (case,)) for name, case in EVERY_CASE.items()), few((*EVERY_CASE.values(),)))
def test_of_every_case_too(case: Case) -> None:
    """Recorded tables: foreign rows, other streams' rows, migrations, unreadable rows, damage."""
    fake = load_topology(
        {"name": "orders", **case.stream}, settings=Settings(reshard_seconds=TAKES)
    )
    expect = case.expects[0]
    options = options_of_case(case, expect.initial[0], expect.releases[-1])
    rng = Random(case.name)

    def taken() -> Snapshot:
        return Snapshot(
            dataclasses.replace(parse("kcl://app"), options=options), listed(fake),
            tuple(images_of(case.items())), {"medium": "dynamodb"}, fake.clock.now(),
        )

    for _ in range(3):
        now = taken()
        word = some_reshard(rng, now.lineage)
        told = judged(foreseen(now, [parse_reshard(word)]), RepairOptions())
        reshard(fake, "orders", word)
        assert told == judged(taken(), RepairOptions()), word
