"""A part of a shard that a task reads. Needs no PySpark."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.kinesis.fast.reader import Begin, Unread


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `begin` up to and with number `until`, or to the shard's end.

    unread: what may not be gone unsaid; `None` where that is not looked at.
    """

    shard: str
    begin: Begin
    until: str | None
    to_end: bool = False
    unread: Unread | None = None
