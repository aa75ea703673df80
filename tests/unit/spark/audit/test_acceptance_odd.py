"""The same truths in sinks of odd names, types and spellings, in sessions of every kind: what an
audit finds does not depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from reshardctl.spark.audit import audit
from tests.proof.damaged_sinks.history import Kind
from tests.proof.damaged_sinks.layouts import Layout
from tests.proof.damaged_sinks.odd import odd, silenced
from tests.proof.damaged_sinks.truth import truth_of
from tests.unit.spark.audit.scenes import (
    Scene,
    against,
    columns,
    differences,
    fitting,
    frame,
    place,
    scene,
    served,
    shuffled,
)  # fmt: skip

ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Pacific/Apia")
SEEDS = range(202, 204)
MORE = range(204, 214)


@contextmanager
def session(spark: Any, rng: Random) -> Iterator[None]:
    """Conditions that nobody tells the audit of."""
    conditions = {
        "spark.sql.ansi.enabled": str(rng.random() < 0.5).lower(),
        "spark.sql.session.timeZone": rng.choice(ZONES),
        "spark.sql.caseSensitive": str(rng.random() < 0.5).lower(),
        "spark.sql.shuffle.partitions": rng.choice("1237"),
    }
    before = {name: spark.conf.get(name) for name in conditions}
    for name, value in conditions.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def drawn(seed: int, layout: Layout, rng: Random, *, clean: bool) -> Scene:
    old = rng.random() < 0.5
    kind = Kind(
        hours=40 if old else 20, roots=rng.randrange(2, 4), reshards=rng.randrange(3, 8),
        keys=rng.choice((6, 12, 40)), records=330, aggregated=rng.choice((0.0, 0.3)),
        busy=rng.choice((0.0, 0.3, 0.9)), slice=rng.choice((7, 60, 900)),
        burst=rng.choice((1, 1, 5)),
    )  # fmt: skip
    made = scene(seed, () if clean else fitting(layout), kind)
    making = silenced(made.making)
    return Scene(making, truth_of(making))


def late(found: Any, made: Scene) -> str:
    """Ends whose arrival is told and is not that of the record."""
    arrived = {row.record: row.arrival for row in made.history.rows}
    ends = (end for held in found.facts.shards.values() for end in (held.first, held.last))
    told = ((place(end), end.arrival) for end in ends if end.arrival is not None)
    wrong = ((at, when, arrived[at]) for at, when in told if abs(when - arrived[at]) > 0.001)
    return "\n".join(f"{at} arrived: found {when}, is {ought}" for at, when, ought in wrong)


def judged(spark: Any, seed: int, *, clean: bool, stream: bool) -> str:
    rng, layout = Random(seed), odd(seed)
    made = drawn(seed, layout, rng, clean=clean)
    rows = frame(spark, shuffled(made), layout).repartition(rng.choice((1, 3, 9)))
    with session(spark, rng), served(made) as url:
        more = against(url) if stream else {}
        found = audit(rows, lineage=made.lineage(), columns=columns(layout), **more)
        wrong = differences(found, made.truth, layout, against=stream) or late(found, made)
    assert bool(made.truth.doubled or made.truth.disordered or made.truth.unusable) is not clean
    return wrong and f"{layout.name} {layout.types} {layout.roles}\n{wrong}"


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_in_an_odd_sink(spark: Any, seed: int) -> None:
    assert judged(spark, seed, clean=False, stream=seed % 2 == 0) == ""


def test_nothing_in_a_clean_one(spark: Any) -> None:
    assert judged(spark, 703, clean=True, stream=True) == ""


@pytest.mark.long
@pytest.mark.parametrize("seed", MORE)
def test_many_seeds(spark: Any, seed: int) -> None:
    assert judged(spark, seed, clean=seed % 3 == 0, stream=seed % 2 == 0) == ""
