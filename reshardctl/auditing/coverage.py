"""For which interval of every shard an audit can say that nothing is missing, and for which not.

Times are Unix seconds: a record's arrival, or the time in its number where that is not known.

Some shards of a sink need a second look, which a summary of each shard tells. A summary is an
interval of numbers and one of orders (a batch id, a time of ingestion). Where the intervals of a
shard's batches do not overlap, and shards came in the order in which they lived, no row can come
after a later one of its key, and none has to be moved to show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from reshardctl.auditing.facts import UP_TO_A_TIME, Compared, Facts, Record
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, time_of

TAKEN = "its records have expired"
UNLISTED = "the shard is no longer listed"
NOT_ASKED = "it is outside of the requested time"
"""What the operator asked for, so no lack of knowledge."""


class Unknowable(Struct, frozen=True):
    """An interval of a shard that cannot be judged; `None` for an unknown beginning or end."""

    shard: ShardId
    since: float | None
    until: float | None
    why: str


class Window(Struct, frozen=True):
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
        if max(opened, horizon) < since:
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


class Life(Struct, frozen=True):
    """A shard's creation, and its last record in the sink.

    Both are Unix seconds, or numbers where these do not tell the time.
    """

    born: int
    ended: int


class Orders(Struct, frozen=True):
    """The least and the greatest order of a shard's rows.

    overlaps: how many of its batches hold numbers that do not lie between those of the batches
    before and after.
    """

    first: Any
    last: Any
    overlaps: int = 0


class Crossing(Struct, frozen=True):
    """Orders of a shard's possible relatives that lie within its own.

    first: the least order of shards created after its last record: its rows of a greater order may
    have come after a descendant's. last: the greatest order of shards whose last record is older
    than its creation: its rows of a less order may have come before an ancestor's. `None` if there
    is none.
    """

    first: Any | None = None
    last: Any | None = None


class Doubtful(Struct, frozen=True):
    """What has to be compared key by key; false if nothing has to be."""

    overlapping: frozenset[int] = frozenset()
    crossings: Mapping[int, Crossing] = field(default_factory=dict)

    @property
    def shards(self) -> frozenset[int]:
        """All shards with rows to be compared."""
        return self.overlapping | self.crossings.keys()

    def __bool__(self) -> bool:
        """Whether any shard is doubtful."""
        return bool(self.shards)


def merged(parts: Iterable[tuple[int, Life]]) -> dict[int, Life]:
    """The life of each shard, from those of parts of its rows."""
    lives: dict[int, Life] = {}
    for at, life in parts:
        was = lives.get(at, life)
        lives[at] = Life(min(was.born, life.born), max(was.ended, life.ended))
    return lives


def doubtful(orders: Mapping[int, Orders], lives: Mapping[int, Life]) -> Doubtful:
    """Shards whose batches overlap, or that came in another order than they lived.

    orders: of the shards with a row that tells its order. lives: of these at least.
    """
    overlapping = frozenset(at for at, of in orders.items() if of.overlaps)
    crossings = _crossings(orders, lives)
    return Doubtful(overlapping, {
        at: crossing for at, crossing in crossings.items() if crossing != Crossing()
    })


def _crossings(orders: Mapping[int, Orders], lives: Mapping[int, Life]) -> dict[int, Crossing]:
    """For each shard the first order of later shards and the last of earlier ones.

    Shards are sorted by creation and by last record, so that each is looked at twice and not beside
    every other.
    """
    born = sorted(orders, key=lambda at: lives[at].born, reverse=True)
    ended = sorted(orders, key=lambda at: lives[at].ended)
    first: dict[int, Any] = {}
    least, index = None, 0
    for at in reversed(ended):
        while index < len(born) and lives[born[index]].born > lives[at].ended:
            order = orders[born[index]].first
            least = order if least is None else min(least, order)
            index += 1
        first[at] = least if least is not None and least < orders[at].last else None
    last: dict[int, Any] = {}
    most, index = None, 0
    for at in reversed(born):
        while index < len(ended) and lives[ended[index]].ended < lives[at].born:
            order = orders[ended[index]].last
            most = order if most is None else max(most, order)
            index += 1
        last[at] = most if most is not None and most > orders[at].first else None
    return {at: Crossing(first[at], last[at]) for at in orders}
