"""RSH205, see `pages/RSH205.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.earlier_report import Trace
from reshardctl.diagnosis.rules.base import (
    Found,
    Severity,
    View,
    of_anomalies,
    rule,
    shards_of,
)
from reshardctl.model import START, Anomaly, AnomalyKind, Cause, ShardId
from reshardctl.model.times import instant
from reshardctl.planning.effects import Harm, has_unread

GONE = (
    "closed and without a position, and their children have progress: cleaned up, or lost before "
    "the children were started"
)
LOST = "closed and without a position, neither"
ASK = "ask the sink, with reshardctl audit"


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
        yield from of_anomalies(alike, severity, what, helps=ASK)


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
