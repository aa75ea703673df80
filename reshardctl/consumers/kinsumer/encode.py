"""Writes the target frontier as rows of the three tables, the first ones of a new application too.

Only rows whose simulated start differs are changed, each with a condition. Every shape was written
by hand and read by twitchscience/kinsumer 9a48088 and snowplow-devops/kinsumer v1.7.0 (runs, Nov
2026). Rows come first, the ShardCache last: a crash between them costs one more read of a finished
shard, never a skip.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from reshardctl.codec.values import number_of
from reshardctl.consumers.kinsumer.behaviour import simulate_start
from reshardctl.consumers.kinsumer.clocks import Clocks, clocks, finished_at, named, rfc_of, seen_at
from reshardctl.consumers.kinsumer.releases import App
from reshardctl.consumers.kinsumer.rows import LATEST, Row, Tables, asked_first, cut_of, kind_of
from reshardctl.consumers.kinsumer.spec import CACHE, CHECKPOINTS, LEADER, key_of
from reshardctl.consumers.sequence_numbers import unborn
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    AttributeValue,
    Create,
    Cut,
    Delete,
    Fate,
    Image,
    Rank,
    ShardId,
    Step,
    TargetFrontier,
    Update,
    WillRead,
    Write,
    index_of,
    short,
)
from reshardctl.model.images import batched
from reshardctl.model.phrases import listed

TRANSACTION = 100
"""Writes that DynamoDB takes in one transaction (TransactWriteItems API reference)."""

GUARDED = (
    "SequenceNumber", "Finished", "FinishedRFC", "OwnerID", "OwnerName", "LastUpdate",
    "LastUpdateRFC",
)
NULL: AttributeValue = {"NULL": True}


class _Order(Struct, frozen=True):
    """What one shard's row should become. at: `None` where the position stays."""

    shard: ShardId
    at: Cut | None
    why: str
    delete: bool = False


def encode(
    lineage: Lineage, tables: Tables, want: TargetFrontier, app: App, leave: Collection[ShardId]
) -> list[Step]:
    """Steps after which kinsumer reads from the target frontier, without shards in `leave`."""
    fates = lineage.memo(simulate_start, lineage, tables, app).fates
    orders: dict[ShardId, _Order] = {}
    for shard in tables.shards(lineage):
        if shard in leave:
            continue
        row = tables.rows.get(shard)
        if shard not in lineage:
            order = _of_unlisted(lineage, row)
        elif row is None:
            order = _of_absent(shard, want[shard], fates[shard])
        else:
            order = _of_present(lineage, row, want[shard], fates[shard], app)
        if order is not None:
            orders[shard] = order
    writes = [_write(lineage, tables, order, app) for order in orders.values()]
    writes.sort(key=lambda w: (index_of(w.key.partition("/")[2]) or 0, w.key))
    ahead = clocks(lineage, tables)
    writes += _unheld(tables, ahead)
    cache = _cache_write(lineage, tables, orders, leave, held=ahead.cache is not None)
    return _steps([*writes, *([cache] if cache else [])])


def _unheld(tables: Tables, ahead: Clocks) -> Iterator[Write]:
    """Releases rows with a time in the future, as the library does when it stops.

    The client's row is deleted, the leader's ID removed (Stop, unregisterLeadership).
    """
    why = "its LastUpdate lies in the future"
    for image in tables.others:
        everything = tuple(image.attributes)
        if image.key in ahead.clients:
            yield Write(image.key, Delete(), image, f"{why}: it counts as alive", everything)
        if image.key == LEADER and ahead.leader is not None:
            yield Write(image.key, Update({}, ("ID",)), image, f"{why}: nobody leads", everything)


def _of_unlisted(lineage: Lineage, row: Row | None) -> _Order | None:
    assert row is not None
    if unborn(lineage, row.shard) and (row.finished is not None or row.number is not None):
        why = "a shard that does not exist yet would start with this row"
        return _Order(row.shard, None, why, delete=True)
    if row.mistyped:
        return _Order(row.shard, None, "the leader's rounds fail on it")
    return None


def _of_absent(shard: ShardId, want: Cut, fate: Fate) -> _Order | None:
    if isinstance(fate, WillRead) and fate.at.exact and fate.at.lo == want:
        return None
    why = fate.why if isinstance(fate, WillRead) else "has no checkpoint"
    unread = want.rank is Rank.START or want.by_time
    return None if unread and not isinstance(fate, WillRead) else _Order(shard, want, why)


def _of_present(lineage: Lineage, row: Row, want: Cut, fate: Fate, app: App) -> _Order | None:
    why = fate.why
    if want == DONE:
        ended = row.finished is not None and not kind_of(lineage, row).of_no_record
        if lineage.is_open(row.shard) or (ended and not row.mistyped):
            return None
        return _Order(row.shard, None if ended else DONE, why)
    if row.mistyped:
        moves = row.finished is not None or "SequenceNumber" in row.mistyped
        moves = moves or cut_of(lineage, row, app) != want
        return _Order(row.shard, want if moves else None, why)
    if row.finished is None and isinstance(fate, WillRead) and fate.at.exact and fate.at.lo == want:
        return None
    return _Order(row.shard, want, why)


def _write(lineage: Lineage, tables: Tables, order: _Order, app: App) -> Write:
    key, row = key_of(order.shard), tables.rows.get(order.shard)
    if row is None:
        assert order.at is not None
        new = new_row(lineage, order.shard, order.at, app.by_time)
        return Write(key, Create(new), None, order.why)
    if order.delete:
        return Write(key, Delete(), row.image, order.why, tuple(row.image.attributes))
    change = _moved(lineage, row, order.at, app)
    guard = tuple(dict.fromkeys([*GUARDED, *change.set]))
    return Write(key, change, row.image, order.why, guard)


def new_row(
    lineage: Lineage, shard: ShardId, at: Cut, pinned: bool
) -> dict[str, AttributeValue]:
    """A whole checkpoint without owner.

    A finished one gets its last record's number where it is known: without one it is read whole if
    the ShardCache is ever rebuilt (run, case c'). pinned: whether the start is spelled so that no
    start mode changes it.
    """
    stamp = seen_at(lineage, shard)
    done = at == DONE
    return {
        "Shard": {"S": shard},
        "SequenceNumber": _last(at) if done else spelling(lineage, shard, at, pinned),
        "LastUpdate": {"N": str(stamp)},
        "LastUpdateRFC": {"S": rfc_of(stamp)},
        "Finished": {"N": str(stamp)} if done else NULL,
        "FinishedRFC": {"S": rfc_of(stamp)} if done else NULL,
    }


def _last(at: Cut) -> AttributeValue:
    last = number_of(at)
    return NULL if last is None else {"S": last}


def spelling(lineage: Lineage, shard: ShardId, at: Cut, pinned: bool) -> AttributeValue:
    """A cut as SequenceNumber.

    The start of a shard is NULL, or its StartingSequenceNumber where it has to hold against a start
    by time (run on 9a48088 and v1.7.0: read whole). A time is the application's own, at which it
    starts where the number is NULL.
    """
    match at.rank:
        case Rank.INSIDE if at.by_time:
            return NULL
        case Rank.INSIDE:
            return {"S": at.text or str(at.number)}
        case Rank.TIP:
            return {"S": LATEST}
        case _:
            return {"S": lineage[shard].start} if pinned and shard in lineage else NULL


def _moved(lineage: Lineage, row: Row, at: Cut | None, app: App) -> Update:
    item = row.image.attributes
    values: dict[str, AttributeValue] = {}
    for name in row.mistyped:
        values[name] = {"N": "0"} if name == "LastUpdate" else NULL
    if at == DONE:
        stamp = finished_at(lineage, row)
        values |= {"Finished": {"N": str(stamp)}, "FinishedRFC": {"S": rfc_of(stamp)}}
        if kind_of(lineage, row).of_no_record:
            values["SequenceNumber"] = _last(at)
    elif at is not None:
        values["SequenceNumber"] = spelling(lineage, row.shard, at, app.by_time)
        if row.finished is not None:
            values |= {"Finished": NULL, "FinishedRFC": NULL}
    same = [name for name, value in values.items() if _is_same(item.get(name), value)]
    for name in same:
        del values[name]
    gone = tuple(name for name in ("OwnerID", "OwnerName") if name in item)
    return Update({n: v for n, v in values.items() if n not in gone}, gone)


def _is_same(stored: AttributeValue | None, value: AttributeValue) -> bool:
    """Whether the library reads both alike: an empty number counts as none (rows.py)."""
    return stored == value or (value == NULL and stored == {"S": ""})


def _cache_write(
    lineage: Lineage, tables: Tables, orders: Mapping[ShardId, _Order], leave: Collection[ShardId],
    held: bool,
) -> Write | None:
    """A new ShardCache, if the old one is unreadable or from the future, or names the wrong shards.

    Those are finished ones that would be read again, and, where the leader's rounds fail, all that
    it leaves out. Otherwise it is left alone: the leader adds missing shards and drops finished
    ones in its first round. held: whether its time lies in the future.
    """
    finished = {s for s in lineage if _ends(s, tables, orders) and s not in leave}
    asked = asked_first(lineage, tables)
    cached = tables.cache is not None and bool(tables.cache.shards)
    again = {s for s in finished & asked if (cached and s in orders) or _bare(s, tables)}
    broken = tables.cache is not None and bool(tables.cache.broken)
    ids = [s for s in lineage if (s in asked if s in leave else s not in finished)]
    unfound = not asked.issuperset(ids) and not tables.unreadable.keys() <= orders.keys()
    reasons = {
        "its LastUpdate lies in the future": held,
        "the leader's rounds fail: nobody adds the shards that it leaves out": unfound,
        "a finished shard in it is read again": bool(again), "it cannot be read": broken,
    }
    why = next((reason for reason, holds in reasons.items() if holds), None)
    if why is None or not ids:
        return None
    before = tables.cache.image if tables.cache else None
    return cache_row(lineage, ids, before, why, broken or held)


def _ends(shard: ShardId, tables: Tables, orders: Mapping[ShardId, _Order]) -> bool:
    order, row = orders.get(shard), tables.rows.get(shard)
    if order is not None and order.at is not None:
        return order.at == DONE
    return row is not None and row.finished is not None


def _bare(shard: ShardId, tables: Tables) -> bool:
    """Whether the shard would be read from its beginning because it has no number."""
    row = tables.rows.get(shard)
    return row is None or row.number is None


def cache_row(
    lineage: Lineage, ids: Collection[ShardId], before: Image | None, why: str,
    broken: bool = False,
) -> Write:
    """The ShardCache with these shards; LastUpdate is kept so that the leader acts at once."""
    values: dict[str, AttributeValue] = {"ShardIDs": {"L": [{"S": s} for s in sorted(ids)]}}
    stamp = max(seen_at(lineage, shard) for shard in lineage)
    stamps: dict[str, AttributeValue] = {
        "LastUpdate": {"N": str(stamp)}, "LastUpdateRFC": {"S": rfc_of(stamp)},
    }
    if before is None:
        return Write(CACHE, Create({"Key": {"S": "ShardCache"}, **values, **stamps}), None, why)
    if broken:
        values |= stamps
    return Write(CACHE, Update(values), before, why, ("ShardIDs", "LastUpdate", "LastUpdateRFC"))


def _steps(writes: list[Write]) -> list[Step]:
    """One transaction while the limit allows it; the ShardCache is in the last one."""
    return [Step(title(part), part) for part in batched(writes, TRANSACTION)]


def title(writes: Sequence[Write]) -> str:
    """`checkpoints of 2, 3 and the ShardCache`: the title of a step."""
    shards = [w for w in writes if w.key.startswith(CHECKPOINTS)]
    names = listed(shards, 4, lambda w: short(w.key.partition("/")[2]))
    titles = [f"checkpoint{'s' if len(shards) > 1 else ''} of {names}"] if shards else []
    titles += [named(w.key) for w in writes if not w.key.startswith(CHECKPOINTS)]
    return " and ".join(titles)


def bootstrap(lineage: Lineage, want: TargetFrontier, app: App) -> list[Step]:
    """A row for each listed shard, with its start pinned, and a ShardCache of the unfinished ones.

    The ShardCache is written only if it would not be empty: the library takes an empty one for all
    shards.
    """
    why = "first checkpoint of a new application"
    writes = [
        Write(key_of(s), Create(new_row(lineage, s, want[s], pinned=True)), None, why)
        for s in lineage
    ]
    unread = [s for s in lineage if want[s] != DONE]
    if unread and len(unread) < len(writes):
        writes.append(cache_row(lineage, unread, app.cached, "leaves out what is finished"))
    return [Step("first checkpoints", part) for part in batched(writes, TRANSACTION)]
