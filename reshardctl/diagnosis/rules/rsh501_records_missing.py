"""RSH501, see `pages/RSH501.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.coverage import time_in
from reshardctl.auditing.facts import Compared
from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.missing import Lack, Why, lacks
from reshardctl.diagnosis.rules.sinks import Sink, in_order, many
from reshardctl.model import short
from reshardctl.model.listed import listed
from reshardctl.model.times import instant
from reshardctl.planning.effects import Deadline

NAMED = 12
"""Shards that a reason names before it counts the rest."""
HELPS = {
    Severity.ERROR: "read them again while the stream has them; listed by audit --rows DIR",
    Severity.WARNING: "look again when the sink has caught up, or name the consumer",
    Severity.INFO: "start the consumer, and look again",
}


@rule("RSH501", "records-missing")
def records_missing(sink: Sink) -> Iterator[Found]:
    """One finding for each severity, over all its shards."""
    all_lacks = list(lacks(sink))
    for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO):
        if such := [lack for lack in all_lacks if lack.why.severity is severity]:
            yield _finding(sink, severity, such)


def _finding(sink: Sink, severity: Severity, lacking: list[Lack]) -> Found:
    compared = [lack.compared for lack in lacking]
    missing = sum(each.missing for each in compared)
    are = "is" if missing == 1 else "are"
    first = [t for each in compared if (t := time_in(each.first_missing)) is not None]
    last = [t for each in compared if (t := time_in(each.last_missing)) is not None]
    arrived = f", arrived {_stretch(min(first), max(last))}" if first and last else ""
    return Found(
        severity, in_order(sink.lineage, (each.shard for each in compared)),
        f"{many(missing, 'record')} of the stream {are} not in the sink{arrived}",
        _reasons(lacking), deadline=_deadline(sink, compared), helps=HELPS[severity],
    )


def _stretch(first: float, last: float) -> str:
    since, until = instant(first), instant(last)
    return f"at {since}" if since == until else f"{since} to {until}"


def _reasons(lacking: list[Lack]) -> str:
    """Every reason once, with its shards if there are several."""
    reasons = list(dict.fromkeys(lack.why for lack in lacking))
    if len(reasons) == 1:
        return reasons[0].clause
    return "; ".join(f"{_shards_of(lacking, why)}: {why.clause}" for why in reasons)


def _shards_of(lacking: list[Lack], why: Why) -> str:
    return listed([short(lack.compared.shard) for lack in lacking if lack.why is why], NAMED)


def _deadline(sink: Sink, compared: list[Compared]) -> Deadline | None:
    """When the first, and when the last, of the records expires."""
    first = [t for each in compared if (t := time_in(each.first_missing)) is not None]
    last = [t for each in compared if (t := time_in(each.last_missing)) is not None]
    if not first or not last:
        return None
    keeps = sink.lineage.stream.retention
    seen = all(each.first_missing and each.first_missing.arrival is not None for each in compared)
    return Deadline(min(first) + keeps, max(last) + keeps, seen)
