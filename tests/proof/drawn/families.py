"""Which stores are drawn, and who starts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from reshardctl.model import Image
from tests.proof.drawn import (
    drawn_go,
    drawn_kcl,
    drawn_quickwit,
    drawn_spark,
    real_go,
    real_kcl,
    real_spark,
)
from tests.proof.drawn.states import CREATED, State, images_of, rows_of
from tests.proof.drawn.trial import Judge, Seen, Verdict
from tests.proof.reference.spark import LINEAGE
from tests.proof.reference.spark_release import KNOWN as SPARK

Draw = Callable[..., State]


@dataclass(frozen=True)
class Family:
    """draw: (seed, created, only) → state. judges: opens what starts the library. jobs: how many
    starts at a time. real: a real library, which a busy machine may disturb. clock: it goes by the
    real one. model: a reference consumer, which makes states smaller in the library's place."""

    name: str
    draw: Draw
    judges: Callable[[int], AbstractContextManager[Any]]
    jobs: int = 1
    real: bool = False
    clock: bool = False
    model: Judge | None = None
    whole: Callable[[int, Any], tuple[str, Verdict]] | None = None
    """Draws and compares by itself: a seed, what `judges` opens → the state in words, and what came
    of it."""

    def state(self, seed: int, created: int = CREATED, only: Sequence[int] | None = None) -> State:
        return self.draw(seed, created, family=self.name, only=only)


def _model(start: Callable[..., Any], left: Callable[..., Any] | None = None) -> Judge:
    """A reference consumer as a judge. left: (rows, run) → the rows after the start."""

    def judge(state: State, images: list[Image]) -> Seen:
        try:
            rows = rows_of(images)
            run = start(state, rows)
        except (KeyError, ValueError, AssertionError) as error:
            return Seen({}, False, f"the reference consumer has no answer: {error!r}")
        got = {shard: tuple(payloads) for shard, payloads in run.delivered.items()}
        stored = None if left is None else tuple(images_of(left(rows, run)))
        return Seen(got, bool(run.died), left=stored)

    return judge


def _by(
    start: Callable[..., Any], left: Callable[..., Any] | None = None
) -> Callable[[int], AbstractContextManager[Judge]]:
    @contextmanager
    def opened(_jobs: int) -> Iterator[Judge]:
        yield _model(start, left)

    return opened


def _kinsumer(name: str, release: str) -> Family:
    draw = partial(drawn_go.kinsumer, release=release)
    return Family(name, draw, _by(drawn_go.start_kinsumer, drawn_go.left_by_kinsumer))


def _consumer(name: str, release: str, *, by_time: bool = False) -> Family:
    draw = partial(drawn_go.consumer, release=release, by_time=by_time)
    return Family(name, draw, _by(drawn_go.start_consumer, drawn_go.left_by_consumer))


AT_ONCE = 32
"""Applications of a Go library at a time: they mostly wait."""

QUERIES = 8
"""Queries in one Spark session at a time."""

KINSUMER, CONSUMER = _model(drawn_go.start_kinsumer), _model(drawn_go.start_consumer)


def _real_consumer(store: str) -> Family:
    draw = partial(drawn_go.consumer, release="0.5.0", store=store)
    judges = real_go.judging("kinesis-consumer", store)
    return Family(f"kinesis-consumer-{store}", draw, judges, AT_ONCE, True, True, CONSUMER)


def _telegraf(release: str) -> Family:
    draw = partial(drawn_go.consumer, release=release)
    return Family(release, draw, real_go.judging(release, "ddb"), AT_ONCE, True, True, CONSUMER)


LEASES = _model(drawn_kcl.start)


def _kcl(release: str) -> Iterator[Family]:
    """The reference worker at a release, and the real one where it can be had."""
    draw = partial(drawn_kcl.leases, release=release)
    yield Family(f"reference-kcl-{release}", draw, _by(drawn_kcl.start))
    if release in REAL_KCL:
        yield Family(f"kcl-{release}", draw, real_kcl.judging(), 16, True, model=LEASES)


def _multi(release: str) -> Iterator[Family]:
    """The same over several streams."""
    draw = partial(drawn_kcl.leases, release=release, multi=True)
    yield Family(f"reference-kcl-{release}-multi", draw, _by(drawn_kcl.start))
    yield Family(f"kcl-{release}-multi", draw, real_kcl.judging(), 16, True, model=LEASES)


def _kcl_by_time(release: str) -> Family:
    draw = partial(drawn_kcl.leases, release=release, by_time=True)
    return Family(f"reference-kcl-{release}-by-time", draw, _by(drawn_kcl.start))


def _never(**_said: Any) -> State:
    raise NotImplementedError


def _by_itself(name: str, whole: Callable[[int, Any], tuple[str, Verdict]]) -> Family:
    return Family(name, _never, _by(_never), whole=whole)


def _qubole(name: str, whole: Callable[[int, Any], tuple[str, Verdict]]) -> Family:
    return Family(name, _never, real_spark.qubole, QUERIES, True, whole=whole)


def _spark(release: str) -> Family:
    return _by_itself(f"reference-spark-{release}", drawn_spark.examined(release))


def _misplaced(release: str) -> Family:
    whole = drawn_spark.examined(release, drawn_spark.misplaced_often)
    return _by_itself(f"reference-spark-{release}-misplaced", whole)


REAL_KCL = ("1.15.3", "2.7.2", "3.1.3", "3.5.1")
FAMILIES = {
    family.name: family
    for family in (
        _kinsumer("reference-kinsumer-twitch", "twitch"),
        _kinsumer("reference-kinsumer-snowplow", "snowplow-1.7"),
        _consumer("reference-kinesis-consumer", "0.5.0"),
        _consumer("reference-kinesis-consumer-master", "master-31e0042"),
        _consumer("reference-kinesis-consumer-by-time", "0.5.0", by_time=True),
        _consumer("reference-kinesis-consumer-master-by-time", "master-31e0042", by_time=True),
        _consumer("reference-telegraf", "telegraf-1.39"),
        Family(
            "kinsumer", partial(drawn_go.kinsumer, release="snowplow-1.7"),
            real_go.judging("kinsumer", "ddb"), AT_ONCE, True, True, KINSUMER,
        ),
        *(
            Family(f"reference-quickwit-{release}", partial(drawn_quickwit.source, release=release),
                   _by(drawn_quickwit.start))
            for release in ("0.8.2", "0.9.0")
        ),
        _by_itself("kinesis-lineage", drawn_spark.by_the_source),
        _qubole("qubole", drawn_spark.by_qubole),
        _qubole("qubole-misplaced", drawn_spark.misplaced_by_qubole),
        *(_spark(release) for release in (*sorted(SPARK), LINEAGE)),
        *(_misplaced(release) for release in sorted(SPARK)),
        *(f for release in ("1.13.3", *REAL_KCL) for f in _kcl(release)),
        *(f for release in ("2.7.2", "3.5.1") for f in _multi(release)),
        *(_kcl_by_time(release) for release in ("1.15.3", "3.5.1")),
        *(_real_consumer(store) for store in ("ddb", "redis", "postgres", "mysql")),
        *(_telegraf(release) for release in ("telegraf-1.34", "telegraf-1.39")),
    )
}
