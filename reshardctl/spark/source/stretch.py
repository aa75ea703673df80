"""A part of a shard that a task reads. Needs no PySpark."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.kinesis.fast import Begin, Unread, order


def is_ahead(number: str, begin: Begin) -> bool:
    """Whether a record with this number is read by who begins there."""
    return not isinstance(begin.value, str) or order(number) > order(begin.value)


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `begin` up to `until` or the shard's end; unread: records that must not be gone."""

    shard: str
    begin: Begin
    until: str | None
    to_end: bool = False
    unread: Unread | None = None
