"""The watch before a write: reads of the store that rule out a running consumer."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.errors import ConsumerRunning, Refused, UsageError
from reshardctl.model.phrases import listed
from reshardctl.snapshot import Ports

TICK = 1.0
"""Seconds after which the time left is told anew."""
LOOK = 5.0
"""Seconds after which the rows are read again."""
LEAST = 30.0
"""Seconds that a consumer is watched at least which is switched off: it may publish once more."""
SHARE = 4
"""A read that took long is followed by a pause of so many times as long."""

Tell = Callable[[float, str], None]
"""Receives the seconds left, and what the lack of changes has ruled out so far."""


def watch(
    ports: Ports, locator: Locator, seconds: float, tell: Tell = lambda _left, _excluded: None
) -> str:
    """Reads again and again for so many seconds, and returns what the lack of changes rules out.

    Raises ConsumerRunning as soon as anything has changed, and UsageError if no change in so many
    seconds would rule out nothing. Rows without an owner are watched too: a worker may have
    started a moment ago, and own nothing yet.
    """
    consumer = consumer_of(locator)
    require_signs(locator)
    if not consumer.spec.watchable:
        return _switched_off(ports, consumer, seconds)
    first = consumer.signs_of_life(ports.store.read())
    needed = consumer.watch_needed(locator.options)
    _require_enough(first, seconds, needed if first else max(needed, consumer.spec.least_watch))
    passed, told = 0.0, ""
    pause = LOOK
    while passed < seconds:
        looked = min(seconds, passed + pause)
        while passed < looked:
            tell(seconds - passed, told)
            step = min(TICK, looked - passed)
            ports.sleep(step)
            passed += step
        began = ports.clock()
        _require_still(first, consumer.signs_of_life(ports.store.read()), passed)
        pause = max(LOOK, SHARE * (ports.clock() - began))
        told = _excluded(consumer, first, passed)
    return _excluded(consumer, first, seconds)


def _excluded(consumer: Consumer, first: Collection[str], seconds: float) -> str:
    """What so many seconds without a change rule out."""
    if first:
        return consumer.excluded_by(seconds)
    return (
        f"no row has an owner, and in {seconds:g} s none got one, which rules out a worker that "
        "had a row to take; one that had none leaves no trace"
    )


def _require_still(first: Mapping[str, str], second: Mapping[str, str], seconds: float) -> None:
    """ConsumerRunning if a row has changed in so many seconds, or is new."""
    if moved := sorted(key for key in second if second[key] != first.get(key)):
        raise ConsumerRunning(
            f"the consumer is running: in {seconds:g} s {len(moved)} of "
            f"{len({*first, *second})} watched rows changed ({listed(moved, 3)})",
            "stop every process of the consumer, wait until its rows stay unchanged, and run this "
            "again",
        )


def _require_enough(signs: Collection[str], seconds: float, needed: float) -> None:
    """UsageError unless a running consumer would have changed such rows in that time."""
    if seconds < needed:
        least = f"{math.ceil(needed)}s"
        why = f"leave {listed(sorted(signs), 3)} unchanged" if signs else "own no row"
        raise UsageError(
            f"a watch of {seconds:g} s is too short: a running consumer may {why} for that long; "
            f"watch for at least {least}",
            f"--watch {least}, or --assume-stopped if you know that it is stopped",
        )


def require_signs(locator: Locator) -> None:
    """Refused if the store cannot show whether the consumer runs: no watch is of use then."""
    if locator.stop_words:
        raise _without_signs()


def _without_signs() -> Refused:
    return Refused(
        "this store does not show whether the consumer is running",
        "stop every process of the consumer, check on its host, and add --assume-stopped",
    )


def _switched_off(ports: Ports, consumer: Consumer, seconds: float) -> str:
    """What a store without signs of life still says: perhaps that the consumer is switched off."""
    images = ports.store.read()
    state = consumer.enabled_state(images)
    if state is None:  # its row is gone
        raise _without_signs()
    if state.on:
        raise Refused(state.refusal, state.next)
    _require_enough(state.off, seconds, LEAST)
    ports.sleep(seconds)
    again = ports.store.read()
    later = consumer.enabled_state(again)
    moved = sorted({row.key for row in images} ^ {row.key for row in again}) or [
        new.key for old, new in zip(images, again, strict=True) if old != new
    ]
    if moved or later != state:
        raise ConsumerRunning(
            f"in {seconds:g} s rows of the store changed: {listed(moved, 3)}",
            "a process still publishes, or the consumer was enabled: wait, and run this again",
        )
    return state.excluded
