"""Which stores are drawn, and who starts on them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial

from reshardctl.model import Image
from tests.differential import drawn_go
from tests.differential.states import CREATED, State, rows_of
from tests.differential.trial import Judge, Seen

Draw = Callable[..., State]


@dataclass(frozen=True)
class Family:
    """draw: (seed, created, only) → state. judges: opens what starts the library. jobs: how many
    starts at a time. real: it goes by the real clock."""

    name: str
    draw: Draw
    judges: Callable[[int], AbstractContextManager[Judge]]
    jobs: int = 1
    real: bool = False

    def state(self, seed: int, created: int = CREATED, only: Sequence[int] | None = None) -> State:
        return self.draw(seed, created, family=self.name, only=only)


def _by(start: Callable[..., object]) -> Callable[[int], AbstractContextManager[Judge]]:
    """A reference consumer as a judge."""

    def judge(state: State, images: list[Image]) -> Seen:
        run = start(state, rows_of(images))
        got = {shard: tuple(payloads) for shard, payloads in run.delivered.items()}  # type: ignore[attr-defined]
        return Seen(got, bool(run.died))  # type: ignore[attr-defined]

    @contextmanager
    def opened(_jobs: int) -> Iterator[Judge]:
        yield judge

    return opened


def _kinsumer(name: str, release: str) -> Family:
    draw = partial(drawn_go.kinsumer, release=release)
    return Family(name, draw, _by(drawn_go.start_kinsumer))


def _consumer(name: str, release: str) -> Family:
    draw = partial(drawn_go.consumer, release=release)
    return Family(name, draw, _by(drawn_go.start_consumer))


FAMILIES = {
    family.name: family
    for family in (
        _kinsumer("reference-kinsumer-twitch", "twitch"),
        _kinsumer("reference-kinsumer-snowplow", "snowplow-1.7"),
        _consumer("reference-kinesis-consumer", "0.5.0"),
        _consumer("reference-kinesis-consumer-master", "master-31e0042"),
        _consumer("reference-telegraf", "telegraf-1.39"),
    )
}

if __name__ == "__main__":
    sys.stdout.write("\n".join(FAMILIES) + "\n")
