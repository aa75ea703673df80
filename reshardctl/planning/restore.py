"""What takes steps back: each write's own undo, on the rows as they are then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from reshardctl.model import (
    AttributeValue,
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    changed,
    counted,
    writes_of,
)
from reshardctl.model.write_state import same, touched

if TYPE_CHECKING:
    from reshardctl.consumers.spec import Spec

RestoreRule = Callable[[Write, Image | None, Image | None, Image | None], Write | None]
"""A write in place, its row before it, after it and now → the write that undoes it, if any."""


class Restore(Struct, frozen=True):
    """The rule: every touched attribute gets its value and type back, or goes if it was absent.

    volatile_attributes: those that the consumer changes by itself. monotonic_counters: those of
    them that only ever grow; they go up by one, never back, so that a consumer with an old image
    loses its claim. One that is no whole number comes back as it was: no consumer counts on it.
    owner_attributes: who holds the row; never restored, because that worker may be
    long gone.
    """

    volatile_attributes: frozenset[str]
    monotonic_counters: frozenset[str]
    owner_attributes: frozenset[str]

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """The rule for a consumer's rows."""
        return cls(spec.volatile_attributes, spec.monotonic_counters, spec.owner_attributes)

    def __call__(
        self, write: Write, before: Image | None, after: Image | None, current: Image | None
    ) -> Write | None:
        """The write that undoes `write`; `None` if there is nothing to undo."""
        match write.change:
            case Create():
                return None if current is None else self._removed(write, current)
            case Delete():
                return None if before is None or current else self._recreated(write, before)
            case Update():
                if before is None or after is None or current is None:
                    return None
                return self._updated(write, before, after, current)

    def _removed(self, write: Write, current: Image) -> Write:
        guard = touched(write) | set(current.attributes) | self.volatile_attributes
        why = f"the fix created it: {write.why}"
        return Write(write.key, Delete(), current, why, tuple(sorted(guard)))

    def _recreated(self, write: Write, before: Image) -> Write:
        row = {n: v for n, v in before.attributes.items() if n not in self.owner_attributes}
        for name in self.monotonic_counters & row.keys():
            if counted(row[name]):
                row[name] = {"N": str(int(row[name]["N"]) + 1)}
        return Write(write.key, Create(row), None, f"the fix deleted it: {write.why}")

    def _updated(
        self, write: Write, before: Image, after: Image, current: Image
    ) -> Write | None:
        names = touched(write)
        put: dict[str, AttributeValue] = {}
        remove = []
        for name in sorted(names - self.monotonic_counters - self.owner_attributes):
            was, is_now = before.attributes.get(name), current.attributes.get(name)
            own = name in self.volatile_attributes and not same(is_now, after.attributes.get(name))
            if own or same(was, is_now):
                continue
            if was is None:
                remove.append(name)
            else:
                put[name] = was
        if not put and not remove:
            return None
        counters = sorted(self.monotonic_counters & current.attributes.keys())
        add = {name: 1 for name in counters if counted(current.attributes[name])}
        guard = tuple(sorted(names | self.volatile_attributes))
        change = Update(put, tuple(remove), add or None)
        return Write(write.key, change, current, f"as before the fix: {write.why}", guard)


def steps_back(steps: Sequence[Step], restore: RestoreRule) -> list[Step]:
    """The steps that undo these, on rows as these leave them."""
    rows = {write.key: changed(write.before, write) for write in writes_of(steps)}
    return back_from(steps, rows, restore)


def back_from(
    applied: Sequence[Step], rows: dict[str, Image | None], restore: RestoreRule
) -> list[Step]:
    """The steps that undo what is in place, last first. rows: as they are now."""
    result = []
    for step in reversed(applied):
        writes = []
        for write in reversed(step.writes):
            now = rows[write.key]
            back = restore(write, write.before, changed(write.before, write), now)
            if back is not None:
                rows[write.key] = changed(now, back)
                writes.append(back)
        if writes:
            result.append(Step(f"undo: {step.title}", tuple(writes)))
    return result
