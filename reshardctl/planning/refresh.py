"""A plan's writes over rows read later: the same changes, guarded by the new rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from reshardctl.errors import REPLAN, StalePlan
from reshardctl.model import Image, Step, Write, changed
from reshardctl.model.write_state import same


def rebase(
    steps: Sequence[Step], rows: Sequence[Image], volatile_attributes: Collection[str]
) -> list[Step]:
    """The same writes over the rows as they are now, the steps before each one taken as done.

    volatile_attributes: attributes that change by themselves: their present values are guarded too.
    StalePlan when a row appeared or vanished, or when another attribute that a write guards has
    changed.
    """
    now: dict[str, Image | None] = {image.key: image for image in rows}
    written: set[str] = set()
    result = []
    for step in steps:
        writes = []
        for write in step.writes:
            row = now.get(write.key)
            if write.key not in written:
                _as_guarded(write, row, volatile_attributes)
            fresh = _over(write, row, volatile_attributes)
            now[write.key] = changed(row, fresh)
            written.add(write.key)
            writes.append(fresh)
        result.append(replace(step, writes=tuple(writes)))
    return result


def _as_guarded(write: Write, row: Image | None, volatile_attributes: Collection[str]) -> None:
    if (row is None) is not (write.before is None):
        change = "vanished" if row is None else "appeared"
        raise StalePlan(f"row {write.key} has {change} since it was read", REPLAN)
    if row is None or write.before is None:
        return
    for name in write.guard:
        if name in volatile_attributes:
            continue
        if not same(row.attributes.get(name), write.before.attributes.get(name)):
            raise StalePlan(f"row {write.key}: {name} has changed since it was read", REPLAN)


def _over(write: Write, row: Image | None, volatile_attributes: Collection[str]) -> Write:
    if row is None or write.live:
        return replace(write, before=row)
    extra = sorted(set(volatile_attributes) - set(write.guard))
    return replace(write, before=row, guard=(*write.guard, *extra))
