"""What a step may contain, and whether its guards hold."""

from __future__ import annotations

from reshardctl.model import Create, Image, Step, Write
from reshardctl.model.write_state import same


def checked(step: Step, at_most: int) -> tuple[Write, ...]:
    """The writes of a step. ValueError for a step that no plan may hold."""
    if not 1 <= len(step.writes) <= at_most:
        raise ValueError(f"a step of {len(step.writes)} writes; 1 to {at_most} are possible")
    if len({write.key for write in step.writes}) < len(step.writes):
        raise ValueError("a step that writes one row twice")
    for write in step.writes:
        if write.before is None and not isinstance(write.change, Create):
            raise ValueError(f"{write.key}: a row that was absent can only be created")
    return step.writes


def holds(write: Write, now: Image | None) -> bool:
    """Whether a row is as the write's guard wants it."""
    if isinstance(write.change, Create) or write.before is None:
        return now is None
    return now is not None and all(
        same(now.attributes.get(name), write.before.attributes.get(name)) for name in write.guard
    )
