"""Rules on a stored position itself: a number or a time at which nothing can go on.

These are RSH205 to RSH207, RSH210, RSH212, RSH215, RSH232 and RSH404.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.evidence import Foreign, Trace
from reshardctl.diagnosis.rules.base import (
    Found,
    Severity,
    View,
    of_anomalies,
    of_effects,
    rule,
    shards_of,
)
from reshardctl.model import START, Anomaly, AnomalyKind, Cause, ShardId, awaited
from reshardctl.model.times import instant
from reshardctl.planning.effects import Effect, Harm, has_unread

GONE = (
    "closed and without a position, and their children have progress: cleaned up, or lost before "
    "the children were started"
)
LOST = "closed and without a position, neither"
ASK_THE_SINK = "ask the sink, with reshardctl audit"


def _cannot_tell(view: View) -> Iterator[Found]:
    """Shards without a row, with unread records, that may not have been read to their end."""
    anomalies = [
        o for o in view.anomalies_of(AnomalyKind.CLEANED_OR_LOST)
        if o.shard is not None and has_unread(view.state, o.shard, START)
        and not _finished(view, o.shard)
    ]
    by_what: dict[str, list[Anomaly]] = {}
    for anomaly in anomalies:
        by_what.setdefault(_traced(view, anomaly), []).append(anomaly)
    helps = (
        "the sink can, with reshardctl audit, or a snapshot from before that start: inspect "
        "--baseline FILE"
    )
    yield from of_anomalies(
        by_what.pop("", ()), Severity.INFO, f"{GONE}; the table cannot tell",
        helps=helps,
    )
    for what, alike in by_what.items():
        severity = Severity.WARNING if what.startswith(LOST) else Severity.INFO
        yield from of_anomalies(alike, severity, what, helps=ASK_THE_SINK)


def _traced(view: View, anomaly: Anomaly) -> str:
    """What an earlier reading says of the shard, "" for nothing."""
    earlier, shard = view.earlier, anomaly.shard
    if earlier is None or shard is None:
        return ""
    taken = instant(earlier.taken)
    match earlier.trace(view.lineage, shard):
        case Trace.LOST:
            return (
                f"{LOST} at {taken} nor now, and their children had not begun then: KCL starts "
                "those beside a missing lease, and the rest was probably never read"
            )
        case Trace.STOOD:
            stood = earlier.positions[shard]
            return f"{GONE}. At {taken} it stood at {stood}: unknown is what came after that"
        case _:
            return ""


def _finished(view: View, shard: ShardId) -> bool:
    """Whether an earlier reading shows that the shard was read to its end, or all that is left."""
    earlier = view.earlier
    if earlier is None:
        return False
    match earlier.trace(view.lineage, shard):
        case Trace.FINISHED:
            return True
        case Trace.STOOD:
            stood = earlier.stood(shard)
            return stood is not None and not has_unread(view.state, shard, stood)
        case _:
            return False


@rule("RSH205", "orphaned-position")
def orphaned_position(view: View) -> Iterator[Found]:
    """Info: the row does no harm, or the consumer removes it; an error where it crashes."""
    what = "positions of shards that are not listed any more"
    gone = view.anomalies_of(AnomalyKind.GONE)
    crashes = view.harmed(Harm.CRASHES, Cause.UNBORN)
    if gone and crashes and not view.anomalies_of(AnomalyKind.UNBORN):
        shards = shards_of(gone)
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
    else:
        yield from of_anomalies(gone, Severity.INFO, what)
    yield from _cannot_tell(view)
    if earlier := view.anomalies_of(AnomalyKind.EARLIER_STREAM):
        count = f"{len(earlier)} row{'s' if len(earlier) > 1 else ''}"
        what = f"{count} of an earlier stream of this name, never touched"
        yield from of_anomalies(earlier, Severity.INFO, what)


@rule("RSH206", "false-end")
def false_end(view: View) -> Iterator[Found]:
    """Error: the shard is never read again, or the whole consumer crashes, by release.

    A closed shard is marked falsely where the number beside the mark is no record's of it.
    """
    what = "marked as finished, but the shard is open"
    if crashes := view.harmed(Harm.CRASHES, Cause.FALSE_END):
        shards = tuple(s for s, f in view.simulation.fates.items() if f.cause is Cause.FALSE_END)
        shards = shards or tuple(s for e in crashes for s in e.by)
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    costs = "nothing that is written to it is read"
    yield from of_effects(view.harmed(Harm.STALLED, Cause.FALSE_END), what, costs)
    opened = set(view.lineage.open_shards())
    closed = [e for e in view.harmed(Harm.SKIPPED, Cause.FALSE_END) if e.shard not in opened]
    costs = "that proves nothing of this shard, and it is never read again"
    for what, helps, part in _by_stream(view, closed, _OTHER_END, _END):
        yield from of_effects(part, what, costs, Severity.ERROR, helps)


@rule("RSH207", "position-out-of-range")
def position_out_of_range(view: View) -> Iterator[Found]:
    """Error or warning: Kinesis always refuses the number, while the row looks alive."""
    if view.recreated:
        return
    stalls = view.harmed(Harm.STALLED, Cause.FOREIGN_NUMBER)
    costs = f"Kinesis refuses the number at every attempt; {_what_is_unread(view, stalls)} not read"
    for what, helps, part in _by_stream(view, stalls):
        yield from of_effects(part, what, costs, helps=helps)
    ahead = view.harmed(Harm.SKIPPED, Cause.FOREIGN_NUMBER)
    costs = "the consumer goes on after it, or Kinesis refuses it: what is there is not read"
    for what, helps, part in _by_stream(view, ahead, _IN_THE_FUTURE):
        yield from of_effects(part, what, costs, Severity.ERROR, helps)
    again = view.harmed(Harm.REREAD, Cause.FOREIGN_NUMBER)
    costs = "Kinesis refuses the number; the consumer silently reads the shard from its beginning"
    for what, helps, part in _by_stream(view, again):
        yield from of_effects(part, what, costs, Severity.WARNING, helps)
    if crashes := view.harmed(Harm.CRASHES, Cause.FOREIGN_NUMBER):
        shards = tuple(s for e in crashes for s in e.by)
        what = next((_whose(view.foreign[s]) for s in shards if s in view.foreign), _OTHER_SHARD)
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))


_PLACE, _END = "its position is a number", "marked as finished at a number"
_OTHER_SHARD, _OTHER_END = (f"{place} of another shard, or of none" for place in (_PLACE, _END))
_IN_THE_FUTURE = "its position is a number from the future, and of no record"
_FOREIGN_HELPS = {
    Origin.ELSEWHERE:
        "such a row is never written and never deleted: give each stream's application a table, or "
        "a name, of its own; then delete the row yourself, so that the library makes its own",
    Origin.EARLIER:
        "if the stream was deleted and made again, run fix with --recreated and the creation time "
        "that aws kinesis describe-stream-summary tells; else another stream's application uses "
        "this store",
}


def _by_stream(
    view: View, effects: Sequence[Effect], what: str = _OTHER_SHARD, place: str = _PLACE
) -> Iterator[tuple[str, str, list[Effect]]]:
    """The effects by whose the number is: what it is, what helps, and the effects of these."""
    parts: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        foreign = view.foreign.get(effect.shard) if effect.shard is not None else None
        key = (what, "")
        if foreign is not None:
            key = (_whose(foreign, place), _FOREIGN_HELPS[foreign.origin])
        parts.setdefault(key, []).append(effect)
    for (told, helps), part in parts.items():
        yield told, helps, part


def _whose(foreign: Foreign, place: str = _PLACE) -> str:
    return f"{place} of {foreign.words}"


def _what_is_unread(view: View, stalls: Sequence[Effect]) -> str:
    """What is unread: consumers that keep no order read the children of such a shard."""
    refused = {effect.shard for effect in stalls}
    fates = view.simulation.fates.values()
    waits = any(not refused.isdisjoint(awaited(fate)) for fate in fates)
    return "the shard and its children are" if waits else "the shard is"


@rule("RSH210", "position-at-end")
def position_at_end(view: View) -> Iterator[Found]:
    """Warning: Kinesis's answer to the number is not known; an error where the consumer crashes."""
    effects = [e for e in view.effects if e.cause is Cause.AT_END and e.harm is Harm.STALLED]
    what = "its position is the shard's EndingSequenceNumber, which is no record's number"
    costs = "; ".join(dict.fromkeys(e.why for e in effects))
    yield from of_effects(effects, what, costs, Severity.WARNING)
    if crashes := view.harmed(Harm.CRASHES, Cause.AT_END):
        shards = tuple(s for e in crashes for s in e.by)
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))


@rule("RSH212", "position-before-birth")
def position_before_birth(view: View) -> Iterator[Found]:
    """Warning: a future shard would begin finished; an error where the consumer crashes."""
    what = "positions of shards that do not exist yet"
    costs = "once such a shard exists, it is taken for finished, or its number is refused"
    anomalies = view.anomalies_of(AnomalyKind.UNBORN)
    if crashes := view.harmed(Harm.CRASHES, Cause.UNBORN):
        if anomalies:
            shards = shards_of(anomalies)
            yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    yield from of_anomalies(anomalies, Severity.WARNING, what, costs)


@rule("RSH215", "time-mark-without-time")
def time_mark_without_time(view: View) -> Iterator[Found]:
    """Error or warning: the shard cannot be started, and neither can its children."""
    effects = view.harmed(Harm.STALLED, Cause.TIME_WITHOUT_CLOCK)
    what = "is at AT_TIMESTAMP, and the application is not started by time"
    costs = "the consumer fails on it for ever; nothing is read"
    yield from of_effects(effects, what, costs)
    gone = tuple(
        shard for shard, fate in view.simulation.fates.items()
        if fate.cause is Cause.TIME_WITHOUT_CLOCK and shard not in view.lineage
    )
    if gone:
        costs = "the shard is gone, but the consumer never ends it, and its children wait"
        yield Found(Severity.ERROR, gone, what, costs)


@rule("RSH232", "source-key-missing")
def source_key_missing(view: View) -> Iterator[Found]:
    """Error: the source does not start."""
    if crashes := tuple(view.harmed(Harm.CRASHES, Cause.NO_CHECKPOINT)):
        yield Found(
            Severity.ERROR, (), "the source has no key in the checkpoint",
            crashes[0].why, crashes,
            helps="releases before 0.9 start from the beginning instead",
        )


@rule("RSH404", "time-in-the-future")
def time_in_the_future(view: View) -> Iterator[Found]:
    """Error: the shard is not read before that time; a warning where no row shows which one."""
    for crash in view.harmed(Harm.CRASHES, Cause.CLOCK_AHEAD):
        at = "its position is a time that lies in the future"
        yield Found(Severity.ERROR, crash.by, at, crash.why, (crash,))
    what = "held by a time that lies in the future"
    held = [e for e in view.harmed(Harm.STALLED, Cause.CLOCK_AHEAD) if e.certain]
    for why in dict.fromkeys(effect.why for effect in held):
        yield from of_effects([e for e in held if e.why == why], what, why)
    for risk in view.simulation.risks:
        if risk.cause is Cause.CLOCK_AHEAD:
            yield Found(
                Severity.WARNING, risk.shards, what, risk.why, helps=risk.helps
            )
