"""Tables that a worker really leaves: the reference consumer, killed while its stream grew."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.proof.exhaustive.direct import Direct
from tests.proof.exhaustive.tables import Row, row_of
from tests.proof.reference.kcl import Worker
from tests.proof.reference.kcl_cleanup import clean_up
from tests.proof.reference.kcl_stream import Initial, Source
from tests.support.case import Case
from tests.support.case_stream import CaseShard


class Growing(Direct):
    """The case's stream as it was at a moment, which only moves forward."""

    def __init__(self, case: Case, at: float) -> None:
        super().__init__(case)
        self._case = case
        self.show(at)

    def show(self, at: float) -> None:
        """Move to this moment (epoch seconds)."""
        self._now = at
        self._trim = 0
        whole = self._case.topology
        self._topology = {
            index: _as_of(shard, at) for index, shard in whole.items() if _born(shard) <= at
        }
        for index, shard in self._topology.items():
            children = tuple(child for child in shard.children if child in self._topology)
            self._topology[index] = replace(shard, children=children)
            self._records[index] = [(int(n), p, t) for n, p, t in whole[index].records if t <= at]


def _born(shard: CaseShard) -> int:
    return int(shard.start) >> 36 & 0xFFFFFFFFF


def _as_of(shard: CaseShard, at: float) -> CaseShard:
    shown = replace(shard, listed=True)
    # A shard closes in the second before its children are born.
    if shard.closed is not None and shard.closed + 1 > at:
        return replace(shown, closed=None, end="")
    return shown


def interrupted(rng: Random, case: Case, initial: str, release: str) -> list[Row]:
    """Rows that a worker left which ran, with pauses, from some moment on and was then killed."""
    created, now = case.stream["created"], case.now
    moments = sorted(rng.uniform(created, now) for _ in range(rng.choice((0, 1, 2, 3))))
    moments = [*moments, now] if moments else [rng.uniform(created, now), now]
    stream = Growing(case, moments[0])
    source = Source(stream, case.stream["name"])
    worker = Worker(stream, source, {}, Initial.of(initial), release)  # type: ignore[arg-type]
    worker.start()
    for moment in moments:
        stream.show(moment)
        for _ in range(rng.choice((0, 2, 3, 5, 8, 40))):
            worker._round()
            if rng.random() < 0.3:
                clean_up(worker.table, worker.finished, worker.source, release)
    return [row_of(item) for item in worker.table.values()]
