"""What a plan does to each row, in the consumer's own spelling of places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from reshardctl.consumers import consumer_of
from reshardctl.consumers.base import MANY
from reshardctl.model import Create, Delete, Image, ShardId, Step, Write, after, changed, short
from reshardctl.report import Report


class Action(StrEnum):
    """What happens to a row. KEEP: its position stays, only other attributes change."""

    CREATE = "create"
    MOVE = "move"
    KEEP = "keep"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Changed:
    """One row. now, after: its position as spelled, `None` where there is no row."""

    shard: ShardId
    action: Action
    now: str | None
    after: str | None
    write: Write


def changes(report: Report, steps: Iterable[Step]) -> list[Changed]:
    """Every write of these steps on the report's rows, in the order of the shards."""
    listed = list(steps)
    consumer = consumer_of(report.snapshot.locator)
    rows = after(report.snapshot.images, listed)
    places = consumer.positions(consumer.parse(rows, report.snapshot.lineage.stream))
    writes = sorted((w for step in listed for w in step.writes), key=lambda w: _order(w.key))
    return [
        _changed(shard, write, report.positions, places)
        if (shard := consumer.shard_of(write.key)) != MANY else _of_many(write)
        for write in writes
    ]


def _order(key: str) -> tuple[int, str]:
    """Shard ids grow in length when twelve digits no longer suffice."""
    return len(key), key


def shard_written(report: Report, write: Write) -> ShardId:
    """The shard whose row a write of the report's plan is of."""
    return consumer_of(report.snapshot.locator).shard_of(write.key)


def _changed(
    shard: ShardId, write: Write, now: Mapping[ShardId, str], then: Mapping[ShardId, str]
) -> Changed:
    before, place = now.get(shard), then.get(shard)
    match write.change:
        case Create():
            return Changed(shard, Action.CREATE, None, place, write)
        case Delete():
            return Changed(shard, Action.DELETE, before, None, write)
        case _:
            action = Action.KEEP if before == place else Action.MOVE
            return Changed(shard, action, before, place, write)


def _of_many(write: Write) -> Changed:
    """A row of several shards goes by its key, and where it lists shards, by these."""
    before, then = write.before, changed(write.before, write)
    action = Action.MOVE
    if before is None or then is None:
        action = Action.CREATE if before is None else Action.DELETE
    last = write.key.rpartition("/")[2]
    name = ShardId(write.key if last.isdigit() else last)
    return Changed(name, action, _listed(before), _listed(then), write)


def _listed(row: Image | None) -> str | None:
    """The shards that a row lists, shortened."""
    lists = [value["L"] for value in row.attributes.values() if "L" in value] if row else []
    found = [short(one["S"]) for ids in lists for one in ids if "S" in one]
    return ", ".join(found) or None


def counted(changed: Iterable[Changed]) -> dict[Action, int]:
    """How many of each, every action named."""
    found = [one.action for one in changed]
    return {action: found.count(action) for action in Action}
