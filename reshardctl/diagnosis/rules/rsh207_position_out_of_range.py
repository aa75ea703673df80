"""RSH207, see `pages/RSH207.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.identity import Foreign
from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.model import Cause, awaited
from reshardctl.planning.effects import Effect, Harm


@rule("RSH207", "position-out-of-range")
def position_out_of_range(view: View) -> Iterator[Found]:
    """Error or warning: Kinesis always refuses the number, while the row looks alive."""
    if view.recreated:
        return
    stalls = view.harmed(Harm.STALLED, Cause.FOREIGN_NUMBER)
    costs = f"Kinesis refuses the number at every attempt; {_unread(view, stalls)} not read"
    for what, helps, part in _by_stream(view, stalls):
        yield from of_effects(part, what, costs, helps=helps)
    ahead = view.harmed(Harm.SKIPPED, Cause.FOREIGN_NUMBER)
    costs = "the consumer goes on after it, or Kinesis refuses it: what is there is not read"
    for what, helps, part in _by_stream(view, ahead, _AHEAD):
        yield from of_effects(part, what, costs, Severity.ERROR, helps)
    again = view.harmed(Harm.REREAD, Cause.FOREIGN_NUMBER)
    costs = "Kinesis refuses the number; the consumer silently reads the shard from its beginning"
    for what, helps, part in _by_stream(view, again):
        yield from of_effects(part, what, costs, Severity.WARNING, helps)
    if crashes := view.harmed(Harm.CRASHES, Cause.FOREIGN_NUMBER):
        shards = tuple(s for e in crashes for s in e.by)
        what = next((_of(view.foreign[s]) for s in shards if s in view.foreign), _OTHER_SHARD)
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))


_OTHER_SHARD = "its position is a number of another shard, or of none"
_AHEAD = "its position is a number from the future, and of no record"
_HELPS = {
    Origin.ELSEWHERE:
        "such a row is never written and never deleted: give each stream's application a table, or "
        "a name, of its own; then delete the row yourself, so that the library makes its own",
    Origin.EARLIER:
        "if the stream was deleted and made again, run fix with --recreated and the creation time "
        "that aws kinesis describe-stream-summary tells; else another stream's application uses "
        "this store",
}


def _by_stream(
    view: View, effects: Sequence[Effect], what: str = _OTHER_SHARD
) -> Iterator[tuple[str, str, list[Effect]]]:
    """The effects by whose the number is: what it is, what helps, and the effects of these."""
    parts: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        foreign = view.foreign.get(effect.shard) if effect.shard is not None else None
        key = (what, "") if foreign is None else (_of(foreign), _HELPS[foreign.origin])
        parts.setdefault(key, []).append(effect)
    for (told, helps), part in parts.items():
        yield told, helps, part


def _of(foreign: Foreign) -> str:
    return f"its position is a number of {foreign.words}"


def _unread(view: View, stalls: Sequence[Effect]) -> str:
    """What is unread: consumers that keep no order read the children of such a shard."""
    refused = {effect.shard for effect in stalls}
    fates = view.simulation.fates.values()
    waits = any(not refused.isdisjoint(awaited(fate)) for fate in fates)
    return "the shard and its children are" if waits else "the shard is"
