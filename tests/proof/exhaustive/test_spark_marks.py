"""Offsets of kinesis-lineage that a hand was in: the forecast, the reference and the source agree,
and what is planned then does what it says.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reshardctl.errors import CannotTell, ReshardError
from reshardctl.model import Image, after
from reshardctl.planning.plan import Plan
from reshardctl.testing import load_topology
from reshardctl.testing.service import Settings
from tests.proof.exhaustive.checking import first_here
from tests.proof.exhaustive.spark_scenes import Scene, scene
from tests.proof.exhaustive.test_spark import ACCEPTED, violations
from tests.proof.reference.spark import LINEAGE
from tests.proof.reference.spark_files import logged, numbered, put
from tests.support.judging import Bench, delivered, lineage_of
from tests.unit.spark.source.drive import Query

BLOCK, BLOCKS = 25, 4
ALLOWED = (" again, ", "delivers all that is owed, once")
"""A hand made it forget what was read; and a false mark is mended before a record comes to harm."""
Marks = dict[str, dict[str, Any]]


def drop(marks: Marks, shard: str, _rng: Random, _one: Scene) -> None:
    """The mark is gone."""
    del marks[shard]


def reset(marks: Marks, shard: str, _rng: Random, _one: Scene) -> None:
    """It says that nothing was read."""
    marks[shard] = {"seq": "", "end": False}


def reopen(marks: Marks, shard: str, _rng: Random, _one: Scene) -> None:
    """It does not say any more that the shard has ended."""
    marks[shard] = {**marks[shard], "end": False}


def close(marks: Marks, shard: str, _rng: Random, _one: Scene) -> None:
    """It says that the shard has ended."""
    marks[shard] = {"seq": marks[shard]["seq"], "end": True}


def swap(marks: Marks, shard: str, rng: Random, _one: Scene) -> None:
    """It has the number of another one."""
    marks[shard] = {**marks[shard], "seq": marks[rng.choice(sorted(marks))]["seq"]}


def admit(marks: Marks, _shard: str, rng: Random, one: Scene) -> None:
    """A shard got a mark before its turn, or one of its own records."""
    name = rng.choice([each["ShardId"] for each in one.case.shards])
    numbers = ["", *(number for number, *_ in one.case.records[name])]
    marks.setdefault(name, {"seq": rng.choice(numbers), "end": False})


WAYS: tuple[Callable[[Marks, str, Random, Scene], None], ...] = (
    drop, reset, reopen, close, swap, admit, admit,
)  # fmt: skip


def astray(one: Scene, seed: int) -> str:
    """Change a mark in the newest offset. Returns how, "" where there is none to change."""
    rng = Random(f"marks {seed}")
    path = one.root / "offsets" / str(numbered(one.root / "offsets")[-1])
    log = logged(path.read_text(encoding="utf-8"))
    whole = json.loads(log.lines["0"] or "{}")
    if not whole.get("shards"):
        return ""
    way, shard = rng.choice(WAYS), rng.choice(sorted(whole["shards"]))
    way(whole["shards"], shard, rng, one)
    whole["shards"] = dict(sorted(whole["shards"].items()))
    put(path, log.with_line("0", json.dumps(whole)).text())
    return f"{way.__name__} {shard}"


def by_the_source(one: Scene, images: list[Image], old: bool) -> Query | None:
    """The source's own next start; None where it dies."""
    settings = Settings(end_with_last_records=one.together)
    fake = load_topology(one.case.stream, settings=settings)
    files = {image.key: image.attributes.get("text", {}).get("S", "") for image in images}
    batches = sorted(int(key[8:]) for key in files if key[:8] == "offsets/" and key[8:].isdigit())
    lines = [logged(files[f"offsets/{number}"]).lines["0"] or "" for number in batches]
    done = sum(key[:8] == "commits/" and key[8:].isdigit() for key in files)
    said = {"startingPosition": one.options.starting}
    said["failOnDataLoss"] = one.locator["failOnDataLoss"]
    query = Query(fake, old, said, lines, done)
    try:
        query.drain()
    except ReshardError:
        return None
    return query


def differences(one: Scene, images: list[Image], old: bool) -> Iterator[str]:
    """Where the source does otherwise than its forecast says."""
    bench = Bench.on(one.case, images, one.locator, accept=ACCEPTED)
    (simulation,) = bench.replays()
    query = by_the_source(one, images, old)
    if (simulation.crash is not None) != (query is None):
        yield f"forecast {simulation.crash}, {'died' if query is None else 'lived'}"
    elif query is not None:
        lineage = lineage_of(one.case.shards, one.case.stream["created"])
        for shard, wanted in delivered(one.case, simulation, lineage).items():
            got = tuple(row.data for row in query.rows() if row.shard == shard)
            if got != wanted:
                yield f"{shard}: forecast {wanted}, delivered {got}"
    decision = bench.decide()
    steps = decision.steps if isinstance(decision, Plan) else ()
    if steps and by_the_source(one, after(images, steps), old) is None:
        yield "the source dies after the plan"


@pytest.mark.parametrize("start", first_here(range(0, BLOCK * BLOCKS, BLOCK), 1))
def test_marks_astray(start: int, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(start, start + BLOCK):
        one = scene(seed, tmp_path / f"{seed}", LINEAGE)
        how = astray(one, seed) if one.options.retain == 100 else ""
        if not how:
            continue
        try:
            found = [*violations(one, tmp_path / f"{seed}", seen)]
            allowed = (*ALLOWED, " owes ") if how.startswith(("admit", "close")) else ALLOWED
            found = [each for each in found if not any(word in each for word in allowed)]
            found += differences(one, one.images(), old=bool(seed % 2))
        except CannotTell as refused:
            found = [] if "offsets/" in refused.what else [refused.what]
        assert not found, "\n".join([f"seed {seed}: {how}", *found])
    assert seen["Plan"] >= 2, f"too few scenes of this block are mended: {seen}"
