"""`--wait` and `--until`: looks again and again, at a low rate, until a reshard is over."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.errors import StreamUnsettled, TimedOut, UsageError
from reshardctl.model.times import duration, parse_seconds

if TYPE_CHECKING:
    from reshardctl.commands.observer import Observer
    from reshardctl.consumers.locator import Locator
    from reshardctl.execution.ports import Ports
    from reshardctl.lineage import Lineage
    from reshardctl.report.forecast import Uncrossed

PAUSE = 5.0
"""Seconds between two looks at the stream, each two calls and a page per thousand shards."""
ROWS_PAUSE = 15.0
"""Seconds between two looks at the rows, each a scan of the table."""
_BEHIND, _EMPTY = "has not crossed", "holds no position"
_SHARDS = re.compile(r"shards=([1-9]\d{0,5})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wait:
    """How long, in seconds, and for what: `shards` open ones (0 for any number), `crossed`."""

    seconds: float
    shards: int = 0
    crossed: bool = False


def wait_of(patience: str | None, until: str | None) -> Wait | None:
    """Reads the options `--wait` and `--until`. Raises UsageError."""
    if patience is None:
        if until is not None:
            raise UsageError(
                f"--until {until}: nothing is waited for without --wait",
                f"say how long: --wait 15m --until {until}",
            )
        return None
    seconds = parse_seconds(patience, "--wait")
    if until is None or until == "settled":
        return Wait(seconds)
    if until == "crossed":
        return Wait(seconds, crossed=True)
    if shards := _SHARDS.match(until):
        return Wait(seconds, shards=int(shards[1]))
    raise UsageError(
        f"--until {until}: cannot be waited for",
        "it takes settled, shards=N (a number from 1 on) or crossed",
    )


def wait_for(
    wait: Wait, ports: Ports, stream: str, locator: Locator, observer: Observer
) -> None:
    """Returns once the condition holds. TimedOut (exit 3) names what was still missing.

    At most half of the time is spent reading: a look that took long is followed by a long pause.
    """
    look = _rows(ports, stream, locator) if wait.crossed else _stream(ports, stream, wait.shards)
    pause = ROWS_PAUSE if wait.crossed else PAUSE
    end = ports.clock() + wait.seconds
    while True:
        began = ports.clock()
        missing = look()
        if not missing:
            return
        now = ports.clock()
        left = end - now
        if left <= 0:
            raise TimedOut(f"after {duration(wait.seconds)} {missing}", _next(missing))
        observer.phase(f"waiting: {missing}, {duration(left)} left")
        ports.sleep(min(max(pause, now - began), left))


def _next(missing: str) -> str:
    if _BEHIND in missing:
        return "the same without --wait says what stands in the way; --watch 60s judges the workers"
    if _EMPTY in missing:
        return "check the name; a new consumer has positions once it has run"
    return "look at the reshard, or wait longer with --wait"


def _stream(ports: Ports, stream: str, shards: int) -> Callable[[], str]:
    def look() -> str:
        try:
            return _unsettled(ports.kinesis.lineage(stream), stream, shards)
        except StreamUnsettled:
            return f"stream {stream} is still not settled"

    return look


def _unsettled(lineage: Lineage, stream: str, shards: int) -> str:
    if lineage.stream.status != "ACTIVE":
        return f"stream {stream} is still {lineage.stream.status}"
    if shards and lineage.open_count() != shards:
        return f"stream {stream} has {lineage.open_count()} open shards, not {shards}"
    return ""


def _rows(ports: Ports, stream: str, locator: Locator) -> Callable[[], str]:
    from reshardctl.diagnosis.evidence import without_position
    from reshardctl.report.forecast import uncrossed
    from reshardctl.snapshot import take

    def look() -> str:
        try:
            snapshot = take(ports.kinesis, ports.store, stream, locator, ports.clock)
        except StreamUnsettled:
            return f"stream {stream} is still not settled"
        if unsettled := _unsettled(snapshot.lineage, stream, 0):
            return unsettled
        missing = uncrossed(snapshot)
        return without_position(snapshot) if missing.empty else _spelled(missing, locator)

    return look


def _spelled(missing: Uncrossed, locator: Locator) -> str:
    from reshardctl.render.words import shards

    parts = []
    if missing.behind:
        parts.append(f"not read to the end: {shards(missing.behind)}")
    if missing.unstarted:
        parts.append(f"not started: {shards(missing.unstarted)}")
    return f"{locator.text} {_BEHIND} ({'; '.join(parts)})" if parts else ""
