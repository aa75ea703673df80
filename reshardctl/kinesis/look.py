"""What a look at many shards tells while it reads: what it may take, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reshardctl.kinesis.budget import Allowance


@dataclass(frozen=True, slots=True)
class Look:
    """Two functions to tell.

    begin: called with what the look may take, before the first read. read: called with the number
    of shards that are done, of those that are read.
    """

    begin: Callable[[Allowance], None]
    read: Callable[[int, int], None]


UNSEEN = Look(lambda _allowed: None, lambda _done, _shards: None)
