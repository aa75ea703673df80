"""What a use case reads from, writes to and waits by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reshardctl.snapshot import Stream
from reshardctl.stores.base import Store


@dataclass(frozen=True, slots=True)
class Ports:
    """The stream, the store and the clock of one consumer.

    clock: Unix seconds. sleep: waits that many seconds. interrupted: whether the user asked to
    stop.
    """

    kinesis: Stream
    store: Store
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    interrupted: Callable[[], bool] = lambda: False
