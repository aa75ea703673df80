"""`--wait`: until the stream is ACTIVE and its listing holds together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reshardctl.cli.progress import phase
from reshardctl.errors import StreamUnsettled, TimedOut
from reshardctl.times import duration

if TYPE_CHECKING:
    from reshardctl.repair import Ports

PAUSE = 5.0
"""Seconds between two looks."""


def wait_until_settled(ports: Ports, stream: str, seconds: float) -> None:
    """Raises TimedOut (exit 3) when the time is over."""
    end = ports.clock() + seconds
    while True:
        status = _status(ports, stream)
        if status == "ACTIVE":
            return
        left = end - ports.clock()
        if left <= 0:
            raise TimedOut(
                f"after {duration(seconds)} stream {stream} is still {status}",
                "look at the reshard, or wait longer with --wait",
            )
        phase(f"waiting for stream {stream} ({status}), {duration(left)} left")
        ports.sleep(min(PAUSE, left))


def _status(ports: Ports, stream: str) -> str:
    try:
        return ports.kinesis.lineage(stream).stream.status
    except StreamUnsettled:
        return "not settled"
