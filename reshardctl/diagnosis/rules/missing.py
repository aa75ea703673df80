"""How certain it is that a missing record is lost, not only late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from reshardctl.auditing.coverage import time_in
from reshardctl.auditing.facts import Compared, Record
from reshardctl.diagnosis.rules.base import Severity
from reshardctl.diagnosis.rules.sinks import Sink, behind, covers
from reshardctl.model import ShardId

LATE = 600.0
"""Seconds by which other shards' rows may be ahead of records that are still on their way."""


class Why(Enum):
    """Why the missing records of a shard are lost or not: severity and text."""

    PASSED = (Severity.ERROR, "the consumer's stored position comes after them: it will not read "
               "them again")
    PARTLY_PASSED = (Severity.ERROR, "the consumer's stored position comes after the first of "
                     "them: it will not read them again, and has still to read the others")
    HOLE = (Severity.ERROR, "the sink has later records of the same shard")
    PARTLY_HOLE = (Severity.ERROR, "the sink has later records of the same shard than the first of "
                   "them; what is newer than all of these may still be on its way")
    CHILDREN = (Severity.ERROR, "the sink has records of a child already")
    LATE = (Severity.ERROR, "the sink has records of other shards that arrived more than "
            f"{LATE / 60:.0f} minutes later")
    TAIL = (Severity.WARNING, "they are newer than all that the sink has of the shard: lost, or "
            "still on their way")
    UNREAD = (Severity.ERROR, "the consumer's next start skips them, or never reads the shard: see "
              "reshardctl inspect")
    STILL_TO_READ = (Severity.INFO, "the consumer has still to read them: its stored position lies "
                     "before them")

    @property
    def severity(self) -> Severity:
        """An error where they are certainly lost."""
        return self.value[0]

    @property
    def clause(self) -> str:
        """The reason, as a clause."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Lack:
    """The missing records of one shard."""

    compared: Compared
    why: Why


def lacks(sink: Sink) -> Iterator[Lack]:
    """Every shard of which records are missing."""
    facts = sink.facts
    passed = _with_rows_below(sink)
    newest = max((t for held in facts.shards.values() if (t := time_in(held.last))), default=None)
    for shard in sink.lineage:
        compared = facts.compared.get(shard)
        if compared is not None and compared.missing:
            yield Lack(compared, _why(sink, compared, shard in passed, newest))


def _why(sink: Sink, compared: Compared, passed: bool, newest: float | None) -> Why:
    first = compared.first_missing
    span = sink.processed.get(compared.shard) if sink.processed is not None else None
    if span is not None and first is not None:
        if covers(span.lo, first):
            rest = compared.last_missing is not None and behind(span.hi, compared.last_missing)
            unread = compared.shard in sink.unread
            return Why.PARTLY_PASSED if rest and not unread else Why.PASSED
        if compared.shard in sink.unread:
            return Why.UNREAD
        if behind(span.hi, first):
            return Why.STILL_TO_READ
    inside = sink.facts.shards.get(compared.shard)
    if inside is not None and first is not None and _order(first) < _order(inside.last):
        last = compared.last_missing
        newer = last is not None and _order(last) > _order(inside.last)
        return Why.PARTLY_HOLE if newer and sink.lineage.is_open(compared.shard) else Why.HOLE
    if passed:
        return Why.CHILDREN
    arrived = time_in(first)
    late = newest is not None and arrived is not None and newest - arrived > LATE
    return Why.LATE if late else Why.TAIL


def _order(record: Record) -> tuple[int, int]:
    return int(record.number), record.sub


def _with_rows_below(sink: Sink) -> set[ShardId]:
    """Shards that have a descendant with rows in the sink."""
    ancestors: set[ShardId] = set()
    todo = [shard for shard in sink.facts.shards if shard in sink.lineage]
    while todo:
        for parent in sink.lineage.parents(todo.pop()):
            if parent not in ancestors:
                ancestors.add(parent)
                todo.append(parent)
    return ancestors
