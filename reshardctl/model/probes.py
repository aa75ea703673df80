"""What bounded reads of a shard have shown."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.model.cuts import Cut


@dataclass(frozen=True, slots=True)
class Probe:
    """A bounded GetRecords walk of one shard, from a cut on.

    since: where it began. drained: the end of the shard (or its tip, if open) was reached and no
    record was met. first_arrival: Unix seconds of the first record met. first: that record's
    number. count: records met; more: whether the bound was reached before the end.
    """

    since: Cut
    drained: bool
    first_arrival: float | None = None
    first: str | None = None
    count: int = 0
    more: bool = False
