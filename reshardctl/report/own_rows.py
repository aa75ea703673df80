"""Whether a store's rows are the judged stream's: taken for that, doubted or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reshardctl.consumers.base import Contradiction, Incarnation
from reshardctl.consumers.sequence_numbers import OF_THIS_STREAM, Origin
from reshardctl.diagnosis.evidence import (
    AMBIGUOUS,
    NAMED,
    Foreign,
    Snapshot,
    contradicted_words,
    made_since,
    same_second_as,
)
from reshardctl.model import Frontier, ShardId, short, writes_of
from reshardctl.model.phrases import listed
from reshardctl.planning.case import BY_HAND
from reshardctl.planning.plan import CREATION_TIME, Case, Decision, Plan


def contradicting(
    case: Case, checkpoint: Any, incarnation: Incarnation
) -> Mapping[ShardId, Contradiction]:
    """The rows that contradict the listing, where no number tells whose they are."""
    origins = {*case.origins(checkpoint).values()}
    unproven = incarnation is Incarnation.AMBIGUOUS or Origin.UNPROVEN in origins
    if not unproven or origins & {Origin.OWN, Origin.EARLIER}:
        return {}
    app = case.candidates[0].app
    return case.consumer.contradictions(case.state.lineage, checkpoint, app)


def require_own(
    snapshot: Snapshot, recreated: float | None, case: Case, checkpoint: Any,
    contradictions: Mapping[ShardId, Contradiction],
) -> None:
    """WrongStream where most rows are of shards that the stream never had, or ended while open.

    A listing that is a moment older than the rows does not know a few of their shards. Rows of an
    earlier stream of this name look so, too, but none is in a store that is younger than the
    stream. No creation time shows that rows which say otherwise are this stream's. Ends alone may
    be its own (RSH206), and other parents or hash keys are what copied rows have.
    """
    kinds = Counter(contradictions.values())
    rows = len(case.consumer.positions(checkpoint))
    theirs = kinds[Contradiction.NEVER_HAD] + kinds[Contradiction.OPEN]
    if not kinds[Contradiction.NEVER_HAD] or 2 * theirs <= rows:
        return
    older = not made_since(snapshot)
    if older and recreated is not None:
        return
    words = contradicted_words(snapshot.lineage, contradictions, rows)
    error = case.consumer.wrong_stream(
        checkpoint,
        next(s for s, kind in contradictions.items() if kind is Contradiction.NEVER_HAD),
        f"{words}, and no sequence number shows that the rows are of this stream",
    )
    if older:
        error.next += (
            f". If stream {snapshot.lineage.stream.name} was deleted and made again, and they are "
            f"of the earlier one, fix starts over with --recreated {CREATION_TIME}, its "
            "StreamCreationTimestamp"
        )
    raise error


def doubt_beside_others(
    case: Case, checkpoint: Any, foreign: Mapping[ShardId, Foreign], decision: Decision
) -> str:
    """The doubt about rows without a number beside another stream's, if a plan goes by them.

    A number of this stream in their family shows that they are its own; so does the operator who
    names the shard. A row of an earlier stream raises the same doubt, unless the operator has said
    that the stream was made again: then they count as the earlier one's.
    """
    theirs = [
        shard for shard, of in foreign.items()
        if of.origin is Origin.ELSEWHERE or not case.recreated
    ]
    if not theirs or not isinstance(decision, Plan):
        return ""
    consumer, lineage, origins = case.consumer, case.state.lineage, case.origins(checkpoint)
    named = case.policy.places if case.policy.names_shards and not case.policy.shifts else {}
    written = {consumer.shard_of(write.key) for write in writes_of(decision.steps)}
    near = lineage.related(written.intersection(lineage))
    silent = [s for s in consumer.positions(checkpoint) if s in near and origins.get(s) is None]
    doubtful = [
        shard for shard in silent if shard not in named
        and OF_THIS_STREAM.isdisjoint(origins.get(each) for each in lineage.related([shard]))
    ]
    if not doubtful:
        return ""
    by_stream: dict[str, list[ShardId]] = {}
    for shard in theirs:
        by_stream.setdefault(foreign[shard].words, []).append(shard)
    others = " and ".join(
        f"that of {_named(shards)} is of {words}" for words, shards in by_stream.items()
    )
    return f"no sequence number shows whose the position of {_named(doubtful)} is, and {others}"


def left_alone(
    case: Case, checkpoint: Any, processed: Frontier, decision: Decision
) -> Iterator[str]:
    """The shards that a policy would move, if another stream's row did not make their own doubtful.

    A plan that skips nothing names those that it would have to mend itself.
    """
    if not isinstance(decision, Plan) or not case.policy.skips or case.policy.names_shards:
        return
    lineage = case.state.lineage
    want = case.policy.frontier(lineage, processed)
    stored = case.consumer.stored_cuts(lineage, checkpoint, case.candidates[0].app)
    silent = [
        shard for shard, whose in case.foreign(checkpoint).items()
        if whose is None and shard in lineage and stored.get(shard) != want[shard]
    ]
    if silent:
        yield (
            f"--policy {case.policy.text} does not move {_named(silent)}: no sequence number shows "
            "whose such a row is, and other rows are another stream's. If it is this stream's, "
            f"{BY_HAND}"
        )


def _named(shards: Iterable[ShardId]) -> str:
    return listed([short(shard) for shard in sorted(shards)], NAMED)


def doubt_of(
    snapshot: Snapshot, recreated: float | None, incarnation: Incarnation,
    contradictions: Mapping[ShardId, Contradiction], rows: int,
) -> str:
    """Why the positions may be another stream's, as a sentence; "" where something shows it.

    Without a number the age of the store shows it, unless its rows look like another stream's; so
    does the operator's word that they are of an earlier stream.
    """
    if snapshot.alike:
        return same_second_as(snapshot)
    if incarnation is not Incarnation.AMBIGUOUS:
        return ""
    if not made_since(snapshot) and recreated is not None:
        return ""
    if contradictions:
        words = contradicted_words(snapshot.lineage, contradictions, rows)
        return (
            f"the store holds no sequence number, and {words}: its positions may be another "
            "stream's, or an earlier one's of this name"
        )
    return "" if made_since(snapshot) else AMBIGUOUS
