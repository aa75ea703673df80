"""A case for a decision, and what the next start of every candidate does and costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reshardctl.consumers.base import Candidate, Consumer
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cut,
    Frontier,
    Image,
    ShardId,
    Simulation,
    Span,
    TargetFrontier,
    meet,
)
from reshardctl.planning.effects import Effect, StreamState, aged, effects
from reshardctl.planning.no_less import reopened
from reshardctl.planning.policy import ANY_PRICE, LOSSLESS, UNASKED, Accept, Policy


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate's next start: what it does, and what that costs against the wanted line."""

    candidate: Candidate
    simulation: Simulation
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Everything a decision is made from. Pure data: the same case gives the same decision."""

    consumer: Consumer
    state: StreamState
    images: Sequence[Image]
    candidates: Sequence[Candidate]
    policy: Policy = LOSSLESS
    accept: Accept | None = None
    """The limit that the operator names; `None`: a plan is made whatever it costs."""
    recreated: bool = False
    """The operator says that the rows are of an earlier stream of this name."""
    bootstrap: bool = False
    """The operator says that the consumer is new."""
    kept: Mapping[ShardId, Cut] = field(default_factory=dict)
    """Where the starts without a plan read what is only inferred to be over: see noless.py."""
    line: Frontier | None = None
    """What a sink proves to be processed, whatever the rows say; `None` to believe the rows."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What is to be known of the candidates: that one stands for another release."""
        return tuple(dict.fromkeys(c.note for c in self.candidates if c.note))

    @property
    def limit(self) -> Accept:
        """What a plan may cost a shard."""
        return self.accept or ANY_PRICE

    @property
    def tolerated(self) -> Accept:
        """What the rows as they are may cost before they call for a plan."""
        return self.accept or UNASKED

    def checkpoint(self, images: Iterable[Image] | None = None) -> Any:
        """The rows, or these instead of them, as the consumer parses them for this stream."""
        return self.consumer.parse(
            self.images if images is None else images, self.state.lineage.stream
        )


def processed_frontier(case: Case, images: Iterable[Image] | None = None) -> Frontier:
    """What is processed whichever candidate wrote the rows: lowest lo, highest hi."""
    lineage = case.state.lineage
    if case.line is not None:
        return _probed(case, _of_sink(case, case.line, images))
    if case.recreated:
        return {shard: Span(START, START) for shard in lineage}
    checkpoint = case.checkpoint(images)
    lines = [case.consumer.processed(lineage, checkpoint, c.app) for c in case.candidates]
    line = dict(lines[0])
    for other in lines[1:]:
        line = {shard: meet(line[shard], other[shard]) for shard in line}
    return reopened(_probed(case, line), case.kept)


def _of_sink(case: Case, line: Frontier, images: Iterable[Image] | None) -> dict[ShardId, Span]:
    """The sink's line. Shards that were born since begin at their beginning; of those that are
    not listed any more no sink says anything, and rows are taken at their word."""
    lineage = case.state.lineage
    found = {shard: line.get(shard, Span(START, START)) for shard in lineage}
    if case.recreated:
        return found
    checkpoint = case.checkpoint(images)
    stored = case.consumer.processed(lineage, checkpoint, case.candidates[0].app)
    return {s: span for s, span in stored.items() if s not in lineage} | found


def _probed(case: Case, line: Frontier) -> dict[ShardId, Span]:
    """Reads that met no record settle a closed shard as a whole; what they began behind stays
    known, for consumers that mark no end and hold that place."""
    out = dict(line)
    for shard, probe in case.state.probes.items():
        span = out.get(shard)
        if span is None or not probe.drained or not probe.since <= span.lo:
            continue
        if shard in case.state.lineage and not case.state.lineage.is_open(shard):
            over = replace(DONE, text=str(span.lo))
            out[shard] = Span(over, over, Basis.PROBED, "read to its end: nothing left")
    return out


def judge(case: Case, want: TargetFrontier, processed: Frontier) -> list[Judged]:
    """The next start of every candidate on the rows as they are."""
    checkpoint = case.checkpoint()
    return [judged_as(case, checkpoint, c, want, processed) for c in case.candidates]


def as_it_is(case: Case) -> list[Judged]:
    """The next start of every candidate against the line that the policy wants."""
    processed = processed_frontier(case)
    return judge(case, case.policy.frontier(case.state.lineage, processed), processed)


def judged_as(
    case: Case, checkpoint: Any, candidate: Candidate, want: TargetFrontier, processed: Frontier
) -> Judged:
    run = aged(
        case.state, case.consumer.simulate_start(case.state.lineage, checkpoint, candidate.app)
    )
    return Judged(candidate, run, tuple(effects(case.state, want, processed, run)))
