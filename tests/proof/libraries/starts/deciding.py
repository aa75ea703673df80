"""Whether a start is run or its record stands for it, and whether the two agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tests.proof.libraries.starts.records import Record, Records

Outcome = TypeVar("Outcome")


class NotAsRecorded(AssertionError):
    """A start was run again, and came to something else than its record says."""


def recorded_or_run(
    records: Records,
    digest: str,
    run: Callable[[], Outcome],
    *,
    read: Callable[[Record], Outcome],
    keep: Callable[[Outcome], Record | None],
    hold: Callable[[Outcome, Record], None],
    differences: Callable[[Outcome, Record], Sequence[str]],
) -> Outcome:
    """The outcome of the start with this digest: as recorded where its record is usable, else run.

    ``read`` gives the outcome that a record holds, ``keep`` the record of an outcome, or None for
    a run that shows nothing (it was disturbed, or cut short). ``hold`` takes the record of a run:
    it is for the test to say that it is to be kept, once it has passed. ``differences`` of a run
    from the record of the same inputs: any is NotAsRecorded.
    """
    record = records.usable(digest)
    if record is not None:
        return read(record)
    outcome = run()
    new, before = keep(outcome), records.recorded(digest)
    if before is not None and new is not None and (found := differences(outcome, before)):
        raise NotAsRecorded("\n".join([f"not as recorded under {digest}:", *found]))
    if new is not None:
        hold(outcome, new)
    return outcome
