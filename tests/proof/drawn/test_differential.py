"""The harness itself: it draws the same everywhere, and it finds what is wrong on purpose."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from reshardctl.model import Create, Image, Step, Update
from reshardctl.planning.plan import Decision, Nothing, Plan
from tests.proof.drawn import drawn_spark
from tests.proof.drawn.casefile import document
from tests.proof.drawn.damages import COMMON, damaged
from tests.proof.drawn.drawn_kcl import LATER, LATEST
from tests.proof.drawn.drawn_spark import by_qubole, misplaced_by_qubole
from tests.proof.drawn.families import FAMILIES
from tests.proof.drawn.seeds import one
from tests.proof.drawn.states import State
from tests.proof.drawn.trial import Judge, Seen, Violation, examine, more_often
from tests.proof.exhaustive.spark_scenes import Scene
from tests.proof.exhaustive.test_spark import starts
from tests.proof.reference.spark import Run

KINSUMER, CONSUMER = "reference-kinsumer-snowplow", "reference-kinesis-consumer"
DRAWN = [
    KINSUMER, CONSUMER, "reference-telegraf", "reference-quickwit-0.8.2", "reference-kcl-3.5.1",
]
"""One of each way to draw."""


@cache
def drawn(name: str, seed: int) -> State:
    """Drawn once for all tests here; nothing is changed by them."""
    return FAMILIES[name].state(seed)


def told(name: str, seeds: range) -> str:
    return "".join(document(FAMILIES[name].state(seed), []) for seed in seeds)


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_draws_the_same_state_again(name: str) -> None:
    assert told(name, range(3)) == told(name, range(3))


def test_a_seed_draws_the_same_state_in_another_process() -> None:
    program = (
        "from tests.proof.drawn.test_differential import told, KINSUMER\n"
        "print(told(KINSUMER, range(3)), end='')"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    other = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, check=True,
        capture_output=True, text=True, timeout=600,
    ).stdout
    assert other == told(KINSUMER, range(3))


def test_a_state_moves_along_with_its_stream() -> None:
    """Real libraries go by the real clock: only times and numbers differ then."""
    for seed in range(20):
        was, moved = FAMILIES[KINSUMER].state(seed), FAMILIES[KINSUMER].state(seed, 1_800_000_000)
        assert was.damages == moved.damages
        assert was.rows.keys() == moved.rows.keys()
        assert was.read == moved.read


@pytest.mark.parametrize("name", DRAWN)
def test_damage_really_changes_the_state(name: str) -> None:
    states = [drawn(name, seed) for seed in range(30)]
    changed = [one for one in states if one.rows != one.honest]
    assert len(changed) > len(states) / 2
    assert all(one.rows == one.honest for one in states if not one.damages)


@pytest.mark.parametrize("way", COMMON)
def test_every_kind_of_damage_changes_some_state(way: str) -> None:
    from tests.proof.drawn.damages import World
    from tests.proof.drawn.drawn_go import KinsumerShape

    for seed in range(60):
        state = drawn(KINSUMER, seed)
        older = {
            key: row | {"LastUpdate": {"N": "1"}} for key, row in state.honest.items()
            if Random(key).random() < 0.5
        }
        world = World(state.case, KinsumerShape(), [older])
        rows, names, _ = damaged(f"{seed}", state.honest, world, {way: COMMON[way]})
        assert set(names) == {way}
        if rows != state.honest:
            return
    pytest.fail(f"{way} never changes anything")


def test_every_later_damage_befalls_some_table_of_kcl() -> None:
    states = [drawn("reference-kcl-3.5.1", seed) for seed in range(120)]
    befallen = {damage for state in states for damage in state.damages}
    assert befallen >= {*LATER, *LATEST, "a copy of the table"}


def test_a_copy_of_a_table_is_as_it_was_when_it_was_made() -> None:
    """What the first application read after that, the second has still to read."""
    states = [drawn("reference-kcl-3.5.1", seed) for seed in range(120)]
    copies = [one for one in states if "a copy of the table" in one.damages]
    assert copies
    for state in copies:
        rows = state.honest
        assert all(row.get("leaseOwner") in (None, {"S": "blue"}) for row in rows.values())
        for shard, records in state.case.records.items():
            places = [n for n, _, _ in records]
            if (at := rows.get(shard, {}).get("checkpoint", {}).get("S")) in places:
                read = [n for n, payload, _ in records if payload in state.read[shard]]
                assert read[-1] == at


def finds(name: str, wrong: object, *kinds: str, seeds: range = range(40)) -> bool:
    """Whether all of these kinds of violations are found, with a judge or a fix made wrong."""
    missing = set(kinds)
    with FAMILIES[name].judges(1) as judge:
        for seed in seeds:
            missing -= {bad.kind for bad in wrong(drawn(name, seed), judge)}  # type: ignore[operator]
            if not missing:
                return True
    return False


def test_a_wrong_forecast_is_found() -> None:
    def wrong(state: State, judge: Judge) -> list[Violation]:
        def loses(state: State, images: list[Image]) -> Seen:
            seen = judge(state, images)
            less = {shard: read[:-1] for shard, read in seen.delivered.items()}
            return dataclasses.replace(seen, delivered=less)

        return examine(state, loses).violations

    assert finds(CONSUMER, wrong, "forecast", "forecast after fix")


def test_a_fix_that_does_half_is_found() -> None:
    def half(_state: State, decision: Decision) -> tuple[Step, ...]:
        return decision.steps[:-1] if isinstance(decision, Plan) else ()

    def wrong(state: State, judge: Judge) -> list[Violation]:
        return examine(state, judge, half).violations

    assert finds(KINSUMER, wrong, "next plan", seeds=range(60))


def test_a_fix_that_skips_is_found() -> None:
    def skips(state: State, decision: Decision) -> tuple[Step, ...]:
        steps = decision.steps if isinstance(decision, Plan) else ()
        return tuple(
            replace(step, writes=tuple(_ahead(state, write) for write in step.writes))
            for step in steps
        )

    def wrong(state: State, judge: Judge) -> list[Violation]:
        return examine(state, judge, skips).violations

    assert finds(CONSUMER, wrong, "worse") or finds(CONSUMER, wrong, "silent")


def test_a_fix_that_is_never_enough_is_found() -> None:
    def wrong(state: State, judge: Judge) -> list[Violation]:
        def forgets(state: State, images: list[Image]) -> Seen:
            return dataclasses.replace(judge(state, images), left=tuple(state.images))

        return examine(state, forgets).violations

    assert finds(CONSUMER, wrong, "fix, start, fix", seeds=range(20))


@pytest.mark.parametrize(
    ("checkpoint", "comes", "told"),
    [("s0-0", ["s0-1", "s0-2"], False), ("s0-0", ["s0-0"], True), ("SHARD_END", ["s0-2"], True)],
)
def test_what_was_read_after_a_backup_is_in_no_price(
    checkpoint: str, comes: list[str], told: bool
) -> None:
    """No row holds a number behind the backup's, so nobody can tell that it was read."""
    shard, created = "shardId-000000000000", 1_795_219_200
    records = {"n": 3, "from": 60, "to": 900}
    stream = {"created": created, "now": 2000, "shards": [
        {"id": 0, "range": ["0", "1"], "open": 0, "close": 1000, "records": records},
        {"id": 1, "range": ["0", "1"], "open": 1001, "parents": [0]},
    ]}
    read = {shard: frozenset({"s0-0", "s0-1", "s0-2"})}
    state = State("", 0, "kcl", stream, {}, {}, read, (), {})
    if checkpoint != "SHARD_END":
        checkpoint = state.case.number_of(checkpoint)
    stored = dataclasses.replace(state, rows={shard: {"checkpoint": {"S": checkpoint}}})
    found = more_often(stored, Nothing(), Seen({}, False), Seen({shard: tuple(comes)}, False))
    assert bool(list(found)) is told


def test_a_fix_that_reads_again_is_found() -> None:
    def wrong(state: State, judge: Judge) -> list[Violation]:
        def everything(state: State, images: list[Image]) -> Seen:
            seen = judge(state, images)
            if images == state.images:
                return seen
            got = {shard: tuple(sorted(payloads)) for shard, payloads in state.read.items()}
            return dataclasses.replace(seen, delivered={**seen.delivered, **got})

        return examine(state, everything).violations

    assert finds(CONSUMER, wrong, "more often", seeds=range(20))


def test_a_fix_that_is_worse_half_way_is_found() -> None:
    def one_by_one(_state: State, decision: Decision) -> tuple[Step, ...]:
        steps = decision.steps if isinstance(decision, Plan) else ()
        return tuple(replace(step, writes=(write,)) for step in steps for write in step.writes)

    def wrong(state: State, judge: Judge) -> list[Violation]:
        seen = iter([True, True])

        def nothing_more(state: State, images: list[Image]) -> Seen:
            """As it is, and behind the whole plan, as always; half-way it reads nothing."""
            said = judge(state, images)
            return said if next(seen, False) else dataclasses.replace(said, delivered={})

        return examine(state, nothing_more, one_by_one).violations

    assert finds("reference-kcl-3.5.1", wrong, "half way")


@pytest.mark.parametrize(("name", "seed"), [
    ("reference-kcl-2.7.2", 701742), ("reference-kcl-3.1.3", 701903),
    ("reference-kcl-3.5.1", 700770), ("reference-kcl-2.7.2-multi", 700470),
])  # fmt: skip
def test_a_fix_begins_no_lease_before_what_kcl_creates_only_while_it_is_missing(
    name: str, seed: int
) -> None:
    """Such a lease closed the hole for which KCL's audits created others, and the fix was killed
    before the step that they needed then."""
    with FAMILIES[name].judges(1) as judge:
        assert examine(drawn(name, seed), judge).violations == []


def test_a_second_look_at_a_real_library_waits_longer() -> None:
    family = dataclasses.replace(FAMILIES[CONSUMER], real=True)
    looks = []

    def busy(state: State, images: list[Image]) -> Seen:
        looks.append(state.looks)
        return Seen({}, False) if state.looks == 0 else judge(state, images)

    with family.judges(1) as judge:
        verdicts = [one(family, seed, busy)[1] for seed in range(20)]
    assert set(looks) == {0, 1}
    assert not any(verdict.violations for verdict in verdicts)
    assert any(verdict.uncertain for verdict in verdicts)


def by_the_reference(scene: Scene, files: list[Image], folder: Path, looks: int) -> Run:  # noqa: ARG001
    """The reference consumer in the place of real Spark."""
    return starts(scene, files, folder)


def kinds(judge: object, seeds: range) -> set[str]:
    """Kinds of violations of the Qubole family, with a judge made wrong."""
    verdicts = [by_qubole(seed, judge)[1] for seed in seeds]  # type: ignore[arg-type]
    return {violation.kind for verdict in verdicts for violation in verdict.violations}


def test_the_qubole_family_holds_of_the_reference() -> None:
    verdicts = [by_qubole(seed, by_the_reference)[1] for seed in range(10)]
    assert not any(verdict.violations or verdict.uncertain for verdict in verdicts)
    assert {"Plan", "Nothing"} <= {verdict.decision for verdict in verdicts}
    assert sum(verdict.starts for verdict in verdicts) > len(verdicts)


def test_the_misplaced_family_holds_of_the_reference() -> None:
    verdicts = [misplaced_by_qubole(seed, by_the_reference)[1] for seed in (39, 52, 53, 70, 240)]
    assert not any(verdict.violations for verdict in verdicts)
    assert all(verdict.starts for verdict in verdicts)


def test_a_query_that_does_not_deliver_as_forecast_is_found() -> None:
    def loses(scene: Scene, files: list[Image], folder: Path, looks: int) -> Run:
        ran = by_the_reference(scene, files, folder, looks)
        return dataclasses.replace(ran, batches=ran.batches[:-1])

    assert any("forecast" in kinds(loses, range(seed, seed + 1)) for seed in range(10))


def test_a_checkpoint_that_is_worse_half_way_is_found() -> None:
    def dies(scene: Scene, files: list[Image], folder: Path, looks: int) -> Run:
        ran = by_the_reference(scene, files, folder, looks)
        if "behind" not in folder.name:
            return ran
        return dataclasses.replace(ran, batches=[], died="half way")

    assert kinds(dies, range(44, 53)) == {"half way"}


def test_a_checkpoint_that_is_not_undone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_spark, "undo_steps", lambda *_: [])
    assert kinds(by_the_reference, range(5)) == {"undo"}


def test_a_second_look_at_a_query_waits_longer() -> None:
    looks_at = []

    def busy(scene: Scene, files: list[Image], folder: Path, looks: int) -> Run:
        looks_at.append(looks)
        ran = by_the_reference(scene, files, folder, looks)
        return ran if looks else dataclasses.replace(ran, batches=[])

    verdicts = [by_qubole(seed, busy)[1] for seed in range(8)]
    assert set(looks_at) == {0, 1}
    assert not any(verdict.violations for verdict in verdicts)
    assert any(verdict.uncertain for verdict in verdicts)


def _ahead(state: State, write):
    """The same write, with the place behind the shard's last record."""
    held = state.case.records.get(write.key[-20:], ())
    change, put = write.change, {"sequence_number": {"S": held[-1][0]}} if held else {}
    if isinstance(change, Create):
        return replace(write, change=replace(change, attributes={**change.attributes, **put}))
    if isinstance(change, Update):
        return replace(write, change=replace(change, set={**change.set, **put}))
    return write


@pytest.mark.parametrize("seed", [54, 69, 91])
def test_an_idle_query_of_roncemers_build_plans_no_empty_batch(seed: int) -> None:
    """KinesisSource of 4ef4cea: avoidEmptyBatches is true by default, so Spark does not get to a
    checksum or a commit that is in its way until a record comes."""
    family = FAMILIES["reference-spark-roncemer-1.2.3_spark-3.2"]
    assert family.whole is not None
    how, verdict = family.whole(seed, None)
    assert how.endswith(("orphan", "get_ahead")) and not verdict.violations, how
