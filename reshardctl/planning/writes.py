"""A plan's writes at the time of writing: safe while the consumer runs, and over rows read later.

Those that are not safe are refused, in words. Over new rows the changes stay the same, guarded by
these rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from reshardctl.errors import REPLAN, ConsumerRunning, Refused, StalePlan
from reshardctl.model import Image, Step, Write, changed, writes_of
from reshardctl.model.write_state import same

NAMED = 3
"""Writes named in a message."""


def all_live(steps: Iterable[Step]) -> bool:
    """Whether there is a write, and every one is safe while the consumer runs."""
    writes = writes_of(steps)
    return bool(writes) and all(write.live for write in writes)


def counted_writes(steps: Iterable[Step]) -> str:
    """`2 of 3 writes are safe while it runs`, `both writes are safe while it runs`."""
    writes = writes_of(steps)
    safe = sum(write.live for write in writes)
    if safe == len(writes):
        every = {1: "the write is", 2: "both writes are"}.get(safe, f"all {safe} writes are")
        return f"{every} safe while it runs"
    return f"{safe or 'none'} of {len(writes)} writes {'is' if safe < 2 else 'are'} safe " \
        "while it runs"


def not_live(steps: Iterable[Step], why: str) -> list[Step]:
    """The same steps, with no write live."""
    return [
        replace(step, writes=tuple(replace(w, live=False, running=why) for w in step.writes))
        for step in steps
    ]


def require_live(steps: Sequence[Step]) -> None:
    """Raises Refused, naming the writes that are not safe while the consumer runs."""
    unsafe = [write for write in writes_of(steps) if not write.live]
    if not unsafe:
        return
    named = "; ".join(
        f"{write.key}: {write.running or 'not tried while it runs'}" for write in unsafe[:NAMED]
    )
    more = f"; and {len(unsafe) - NAMED} more" if len(unsafe) > NAMED else ""
    raise Refused(
        f"--live: {counted_writes(steps)}. {named}{more}. Nothing was written",
        "stop every worker, wait for its failover time, and run this without --live",
    )


def suggesting(refusal: ConsumerRunning, steps: Sequence[Step]) -> ConsumerRunning:
    """The refusal of a running consumer, which also says whether --live would work."""
    if all_live(steps):
        hint = f"or leave it running: {counted_writes(steps)}, add --live"
    elif any(write.live for write in writes_of(steps)):
        hint = f"--live would not do: {counted_writes(steps)}"
    else:
        return refusal
    return ConsumerRunning(refusal.what, f"{refusal.next}   ({hint})")


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
