"""For which interval of every shard an audit can say that nothing is missing, and for which not.

Times are Unix seconds: a record's arrival, or the time in its number where that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reshardctl.auditing.facts import UP_TO_A_TIME, Compared, Facts, Record
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, time_of

TAKEN = "its records have expired"
UNLISTED = "the shard is no longer listed"
NOT_ASKED = "it is outside of the requested time"
"""What the operator asked for, so no lack of knowledge."""


@dataclass(frozen=True, slots=True)
class Unknowable:
    """An interval of a shard that cannot be judged; `None` for an unknown beginning or end."""

    shard: ShardId
    since: float | None
    until: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Window:
    """The compared interval of a shard; `until` is when it was read, at an open tip."""

    shard: ShardId
    since: float
    until: float


def time_in(record: Record | None) -> float | None:
    """When a record arrived, as far as is known."""
    if record is None:
        return None
    if record.arrival is not None:
        return record.arrival
    seconds = time_of(record.number)
    return None if seconds is None else float(seconds)


def windows(facts: Facts, lineage: Lineage) -> Iterator[Window]:
    """The compared intervals, one a shard; none of a shard of which nothing could be read."""
    for shard in lineage:
        if (compared := facts.compared.get(shard)) is not None:
            since, until = _since(compared, facts, lineage), _until(compared, facts, lineage)
            if until is not None and since <= until:
                yield Window(shard, since, until)


def unknowable(facts: Facts, lineage: Lineage) -> Iterator[Unknowable]:
    """What cannot be known, shard by shard; nothing if the stream was not read at all."""
    if not facts.compared:
        return
    yield from _unlisted(lineage)
    for shard in lineage:
        compared = facts.compared.get(shard)
        opened = _opened(lineage, shard)
        closed = lineage.closed_at(shard)
        if compared is None:
            windowed = facts.since is not None or facts.until is not None
            yield Unknowable(shard, opened, closed, NOT_ASKED if windowed else "it was not read")
            continue
        since, horizon = _since(compared, facts, lineage), _horizon(facts, lineage)
        if not compared.whole and opened < horizon:
            end = horizon if closed is None else min(horizon, closed)
            yield Unknowable(shard, opened, end, TAKEN)
        if facts.since is not None and max(opened, horizon) < since:
            yield Unknowable(shard, max(opened, horizon), since, NOT_ASKED)
        if compared.short:
            why = NOT_ASKED if compared.short == UP_TO_A_TIME else compared.short
            yield Unknowable(shard, _until(compared, facts, lineage), closed, why)


def _unlisted(lineage: Lineage) -> Iterator[Unknowable]:
    """Unlisted parents, which had ended when their first child opened."""
    over: dict[ShardId, float] = {}
    for shard in lineage:
        for parent in lineage[shard].parents:
            if parent not in lineage:
                opened = _opened(lineage, shard)
                over[parent] = min(opened, over.get(parent, opened))
    for parent in sorted(over):
        yield Unknowable(parent, None, over[parent], UNLISTED)


def _opened(lineage: Lineage, shard: ShardId) -> float:
    opened = lineage.opened_at(shard)
    return lineage.stream.created if opened is None else max(opened, lineage.stream.created)


def _horizon(facts: Facts, lineage: Lineage) -> float:
    """Records that arrived earlier have expired."""
    return facts.taken - lineage.stream.retention


def _since(compared: Compared, facts: Facts, lineage: Lineage) -> float:
    """Where the compared interval begins: everything that the stream had after it was read."""
    opened = _opened(lineage, compared.shard)
    if compared.whole:
        return opened
    begun = max(opened, _horizon(facts, lineage), facts.since or 0.0)
    closed = lineage.closed_at(compared.shard)
    return begun if closed is None else min(begun, closed)


def _until(compared: Compared, facts: Facts, lineage: Lineage) -> float | None:
    if compared.tip:
        return facts.taken
    if compared.ended:
        closed = lineage.closed_at(compared.shard)
        return facts.taken if closed is None else closed
    if compared.short == UP_TO_A_TIME and facts.until is not None:
        return facts.until
    return time_in(compared.until)
