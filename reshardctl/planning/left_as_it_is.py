"""What a plan leaves as it is, and what it gives up.

Rows that are not ours to write, shards that cannot be mended beside others, effects that no
position could change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.model import Cause, ShardId, time_of
from reshardctl.planning.case import Case, Judged, forgotten
from reshardctl.planning.decision import Plan, Residual
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.prices import ByPlace

_NEVER: Mapping[Origin | None, str] = {
    None:
        "it holds no number, and other rows are another stream's: nothing shows whose it is. If it "
        "is this stream's, --set gives it a position",
    Origin.ELSEWHERE: "its position is another stream's, and is never written",
    Origin.EARLIER:
        "its position is older than the stream: of another stream, or of an earlier one of this "
        "name. If the stream was deleted and made again, --recreated with its creation time "
        "repairs it",
}


def never_written(case: Case, judged: Judged) -> dict[ShardId, Residual]:
    """The shards that stay as they are because their rows are another stream's."""
    foreign = case.foreign(case.checkpoint())
    return {
        shard: Residual(shard, effect, "", _NEVER[foreign[shard]])
        for effect in judged.effects if foreign and case.calls_for_a_plan(effect)
        for shard in (effect.shard, *effect.by) if shard is not None and shard in foreign
    }


def apart(case: Case, cannot: Cannot, before: ByPlace) -> dict[ShardId, Residual]:
    """The shards that no row can mend, while the others are mended.

    None if one of them is no shard that is harmed as it is, or under a policy that skips on
    purpose: half of what was asked for is not what was asked for.
    """
    if case.policy.skips or not all(map(before.get, cannot.apart)):
        return {}
    return {
        shard: Residual(shard, before[shard][0], "", why.why, why.ways_out)
        for shard, why in cannot.apart.items()
    }


def unavoided(effect: Effect) -> bool:
    """Whether it is no finding where no position could change it.

    Disorder of a consumer that keeps no order, and a re-read that there may not even be.
    """
    if effect.harm is Harm.REREAD:
        return not effect.certain and effect.cause is not Cause.FOREIGN_NUMBER
    return effect.harm is Harm.DISORDERED


def forgetting(case: Case, plan: Plan) -> Plan:
    """The plan with what the operator's word on a recreated stream gives up."""
    checkpoint = case.checkpoint()
    stored, anew = case.consumer.texts(checkpoint), forgotten(case, checkpoint)
    gone = [
        text for shard, text in stored.items()
        if (case.scope is None or shard in case.scope.shards)
        and (shard in anew or shard not in case.state.lineage)
    ]
    written = [time for text in gone if (time := time_of(text)) is not None]
    return replace(plan, forgets=len(gone), newest_forgotten=max(written, default=None))
