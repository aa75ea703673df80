"""The case of a decision, and what the next start of every candidate does and costs.

A decision looks at a few sets of rows, the stored ones and those after a plan, and asks several
times for the same start of the same candidate. Consumers are pure, so one answer serves them all.

A start without a plan is compared with one after the plan, which may not deliver less. A shard that
is only inferred to be over may not be. If the library itself reads it again, a plan that prevents
this could lose records; a probed end is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.consumers.base import Candidate, Consumer, Incarnation
from reshardctl.consumers.sequence_numbers import (
    OF_THIS_STREAM,
    NumberKind,
    Origin,
    classify,
    origin,
)
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cut,
    Fate,
    Frontier,
    Image,
    ShardId,
    Simulation,
    Span,
    Step,
    TargetFrontier,
    WillRead,
    after,
    at_number,
    decode,
    meet,
    shard_id,
)
from reshardctl.planning.crashes import aged
from reshardctl.planning.decision import Scope
from reshardctl.planning.effects import Effect, Harm, StreamState, effects
from reshardctl.planning.policy import ANY_PRICE, LOSSLESS, UNASKED, Accept, Policy
from reshardctl.planning.prices import worthwhile


def delivers_no_less(processed: Frontier, before: Simulation, then: Simulation) -> bool:
    """Whether a start delivers what the other does, except what is stored as processed."""
    return not withheld(processed, before, then)


def withheld(processed: Frontier, before: Simulation, then: Simulation) -> dict[ShardId, Cut]:
    """The shards of which a start delivers less than the other, and where the other reads from.

    A start that crashes is not compared.
    """
    if before.crash is not None and before.crash.certain:
        return {}
    return {
        shard: fate.at.lo for shard, fate in before.fates.items()
        if isinstance(fate, WillRead) and then.fates.get(shard) is not fate
        and not _reads_as_much(processed.get(shard), fate, then.fates.get(shard))
    }


def loses_nothing(effects: Iterable[Effect]) -> bool:
    """Whether a start skips nothing, stalls nothing and does not crash, where avoidable."""
    return not any(
        effect.harm in (Harm.SKIPPED, Harm.STALLED, Harm.CRASHES) for effect in effects
        if not (effect.gone or effect.past or effect.inherent)
    )


def out_of_order(effects: Iterable[Effect]) -> set[ShardId | None]:
    """The shards that a start reads beside unread ancestors, where avoidable."""
    return {
        effect.shard for effect in effects
        if effect.harm is Harm.DISORDERED and not (effect.past or effect.inherent)
    }


def reopened(processed: Frontier, kept: Mapping[ShardId, Cut]) -> Frontier:
    """The frontier with these shards possibly read no further than here."""
    if not kept:
        return processed
    return {
        shard: Span(
            min(span.lo, kept[shard]), span.hi, Basis.INFERRED, "the next start reads it again"
        ) if shard in kept and span.basis is Basis.INFERRED else span
        for shard, span in processed.items()
    }


def _reads_as_much(known: Span | None, fate: WillRead, then: Fate | None) -> bool:
    since = fate.at.lo
    if known is not None and known.basis is not Basis.INFERRED:
        since = max(since, known.lo)
    if since >= fate.until:
        return True
    if not isinstance(then, WillRead) or then.until < fate.until:
        return False
    return then.at == fate.at or then.at.hi <= since


class Judged(Struct, frozen=True):
    """One candidate's next start: what it does, and its effects against the wanted frontier."""

    candidate: Candidate
    simulation: Simulation
    effects: tuple[Effect, ...]


BY_HAND = "--set gives it a position, once no shard of its family has another stream's row"
"""The way out for a row without a number beside another stream's, if it is this stream's."""


class Case(Struct, frozen=True):
    """All inputs of a decision. Pure data: the same case gives the same decision."""

    consumer: Consumer
    state: StreamState
    images: Sequence[Image]
    candidates: Sequence[Candidate]
    policy: Policy = LOSSLESS
    accept: Accept | None = None
    """The limit that the operator names; `None`: a plan is made whatever it costs."""
    recreated: bool = False
    """The operator says that the rows belong to an earlier stream of this name."""
    bootstrap: bool = False
    """The operator says that the consumer is new."""
    kept: Mapping[ShardId, Cut] = field(default_factory=dict)
    """Where starts without a plan would read shards that are only inferred to be over; see
    `withheld`."""
    line: Frontier | None = None
    """The frontier that a sink proves, whatever the rows say; `None` to use the rows."""
    scope: Scope | None = None
    """The part that may be written; `None` for all."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks on the candidates: that one stands for another release."""
        return tuple(dict.fromkeys(c.note for c in self.candidates if c.note))

    @property
    def limit(self) -> Accept:
        """What a plan may cost per shard."""
        return self.accept or ANY_PRICE

    @property
    def tolerated(self) -> Accept:
        """What the rows as they are may cost before a plan is needed."""
        return self.accept or UNASKED

    def calls_for_a_plan(self, effect: Effect) -> bool:
        """Whether an effect of the rows as they are is one to mend, within the scope."""
        return worthwhile(effect, self.tolerated) and self.concerns(effect)

    def concerns(self, effect: Effect) -> bool:
        """Whether the effect is within the scope."""
        return self.scope is None or self.scope.concerns(effect)

    def selects(self, shard: ShardId) -> bool:
        """Whether the shard is within the scope."""
        return self.scope is None or shard in self.scope.shards

    def outside(self, checkpoint: Any) -> frozenset[ShardId]:
        """The shards that must not be written; none without a scope."""
        if self.scope is None:
            return frozenset()
        known = {*self.state.lineage, *self.consumer.positions(checkpoint)}
        return frozenset(known - self.scope.shards)

    def foreign(self, checkpoint: Any) -> Mapping[ShardId, Origin | None]:
        """Shards whose stored position is not this stream's, with whose it is: never written.

        Once the operator says that the stream was recreated, numbers older than it may be. Beside
        another stream's row one without a number (`None`) may be that stream's as well: it is
        written only where the operator gives its position.
        """
        found: dict[ShardId, Origin | None] = {
            shard: whose for shard, whose in self.origins(checkpoint).items()
            if whose is Origin.ELSEWHERE or (whose is Origin.EARLIER and not self.recreated)
        }
        if found:
            given = self.policy.places if self.policy.names_shards else {}
            found |= {
                shard: None for shard, text in self.consumer.texts(checkpoint).items()
                if decode(text) is None and shard not in given
            }
        return found

    def origins(self, checkpoint: Any) -> Mapping[ShardId, Origin | None]:
        """Whose the number of each stored position is, `None` where there is none."""
        lineage = self.state.lineage
        return lineage.memo(_origins, lineage, self.consumer, checkpoint)

    def incarnation(self, checkpoint: Any) -> Incarnation:
        """The stream to which the rows belong; raises WrongStream if it is another."""
        lineage = self.state.lineage
        return lineage.memo(self.consumer.incarnation, lineage, checkpoint)

    def after(self, steps: Sequence[Step]) -> Sequence[Image]:
        """The rows after these steps."""
        return self.state.lineage.memo.equal(after, self.images, tuple(steps))

    def checkpoint(self, images: Iterable[Image] | None = None) -> Any:
        """The rows, or these instead of them, as the consumer parses them for this stream."""
        asked = self.images if images is None else images
        return parsed(self.state.lineage, self.consumer, asked)

    def simulation(self, checkpoint: Any, candidate: Candidate) -> Simulation:
        """What a candidate does at its next start on a checkpoint, at the time of the case."""
        lineage = self.state.lineage
        simulate = self.consumer.simulate_start
        return aged(self.state, lineage.memo(simulate, lineage, checkpoint, candidate.app))

    def wanted(self, processed: Frontier) -> TargetFrontier:
        """The frontier that the policy asks for."""
        return self.policy.frontier(self.state.lineage, processed)

    def processed(self, checkpoint: Any, candidate: Candidate) -> Frontier:
        """What a checkpoint proves to be processed if this candidate wrote it."""
        lineage = self.state.lineage
        return lineage.memo(self.consumer.processed, lineage, checkpoint, candidate.app)


def parsed(lineage: Lineage, consumer: Consumer, images: Iterable[Image]) -> Any:
    """Rows as the consumer parses them for this stream."""
    return lineage.memo.equal(
        consumer.parse, tuple(images), lineage.stream, again=consumer.parse_again
    )


def _origins(
    lineage: Lineage, consumer: Consumer, checkpoint: Any
) -> Mapping[ShardId, Origin | None]:
    return {shard: origin(lineage, text) for shard, text in consumer.texts(checkpoint).items()}


def never_read(lineage: Lineage) -> Frontier:
    """What an application that is new has processed: nothing."""
    return {shard: Span(START, START) for shard in lineage}


def processed_frontier(case: Case, images: Iterable[Image] | None = None) -> Frontier:
    """What is processed whichever candidate wrote the rows: lowest lo, highest hi."""
    lineage = case.state.lineage
    if case.line is not None:
        return _probed(case, _of_sink(case, case.line, images))
    checkpoint = case.checkpoint(images)
    anew = forgotten(case, checkpoint) if case.recreated else frozenset()
    if case.recreated and anew.issuperset(lineage):
        return never_read(lineage)
    frontiers = [case.processed(checkpoint, candidate) for candidate in case.candidates]
    frontier = dict(frontiers[0])
    for other in frontiers[1:]:
        frontier = {shard: meet(frontier[shard], other[shard]) for shard in frontier}
    frontier |= _misplaced(case, checkpoint, frontier)
    frontier |= _undated(case, checkpoint, frontier) if case.recreated else {}
    beginning = dict.fromkeys(anew, Span(START, START))
    return {**reopened(_probed(case, frontier), case.kept), **beginning}


def _misplaced(case: Case, checkpoint: Any, frontier: Frontier) -> dict[ShardId, Span]:
    """The shards without a number of their own that another shard's row holds one of.

    They may have been read to it; a copy of it proves nothing.
    """
    lineage, texts = case.state.lineage, case.consumer.texts(checkpoint)
    found: dict[ShardId, Span] = {}
    for shard, text in texts.items():
        if classify(lineage, shard, text) is not NumberKind.OTHER_SHARD:
            continue
        decoded = decode(text)
        home = shard if decoded is None else shard_id(decoded.shard)
        if home not in lineage or decode(texts.get(home, "")):
            continue
        span = found.get(home, frontier[home])
        inside = classify(lineage, home, text) is NumberKind.INSIDE
        if inside and span.hi < at_number(text):
            why = "another shard's row holds its number"
            found[home] = Span(span.lo, at_number(text), Basis.INFERRED, why)
    return found


def _undated(case: Case, checkpoint: Any, frontier: Frontier) -> dict[ShardId, Span]:
    """The shards of a recreated stream that count as read without a number that says so.

    The mark may be the earlier stream's, unless the shard or one below it has a number of this one.
    """
    lineage = case.state.lineage
    dated = [
        shard for shard, whose in case.origins(checkpoint).items()
        if shard in lineage and whose in OF_THIS_STREAM
    ]
    known = {*dated, *lineage.ancestors(*dated)}
    why = "marked as finished, perhaps before the stream was made again"
    return {
        shard: Span(START, span.hi, Basis.INFERRED, why) for shard, span in frontier.items()
        if shard in lineage and shard not in known and span.lo == DONE
    }


def forgotten(case: Case, checkpoint: Any) -> frozenset[ShardId]:
    """The shards that begin anew in a recreated stream.

    All of them where no row has a number of this stream; else those whose number is older than it.
    """
    origins = case.origins(checkpoint)
    if not OF_THIS_STREAM.intersection(origins.values()):
        return frozenset(case.state.lineage)
    return frozenset(shard for shard, whose in origins.items() if whose is Origin.EARLIER)


def _of_sink(case: Case, frontier: Frontier, images: Iterable[Image] | None) -> dict[ShardId, Span]:
    """The sink's frontier, completed for shards that it does not know.

    Shards opened since begin at their start; for those no longer listed the rows are believed.
    """
    lineage = case.state.lineage
    completed = {shard: frontier.get(shard, Span(START, START)) for shard in lineage}
    if case.recreated:
        return completed
    checkpoint = case.checkpoint(images)
    stored = case.processed(checkpoint, case.candidates[0])
    return {s: span for s, span in stored.items() if s not in lineage} | completed


def _probed(case: Case, frontier: Frontier) -> dict[ShardId, Span]:
    """The frontier with what reads have shown: a closed shard without records is processed.

    The cut that the read began after stays known, for consumers that mark no end and keep that
    position.
    """
    out = dict(frontier)
    for shard, probe in case.state.probes.items():
        span = out.get(shard)
        if span is None or not probe.drained or not probe.since <= span.lo:
            continue
        if shard in case.state.lineage and not case.state.lineage.is_open(shard):
            over = replace(DONE, text=str(span.lo))
            out[shard] = Span(
                over, over, Basis.PROBED, "read to its end: nothing left", span.head
            )
    return out


def judge(case: Case, want: TargetFrontier, processed: Frontier) -> list[Judged]:
    """The next start of every candidate on the rows as they are."""
    checkpoint = case.checkpoint()
    return [judged_as(case, checkpoint, c, want, processed) for c in case.candidates]


def judged_as(
    case: Case, checkpoint: Any, candidate: Candidate, want: TargetFrontier, processed: Frontier
) -> Judged:
    """The next start of one candidate on a checkpoint, with its effects."""
    run = case.simulation(checkpoint, candidate)
    return Judged(candidate, run, tuple(effects(case.state, want, processed, run)))
