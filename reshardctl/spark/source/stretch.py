"""A part of a shard that a task reads. Needs no PySpark."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.kinesis.fast.reader import Begin


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `begin` up to and with number `until`, or to the shard's end."""

    shard: str
    begin: Begin
    until: str | None
    to_end: bool = False
