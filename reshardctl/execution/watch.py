"""The watch before a write: two reads of the store that rule out a running consumer."""

from __future__ import annotations

import math
from collections.abc import Collection

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.errors import ConsumerRunning, Refused, UsageError
from reshardctl.execution.ports import Ports


def watch(ports: Ports, locator: Locator, seconds: float) -> str:
    """Reads twice, so many seconds apart, and returns what the lack of changes rules out.

    Raises ConsumerRunning if anything changed, and UsageError if no change in so many seconds would
    rule out nothing. A store in which nothing could change is not waited for.
    """
    consumer = consumer_of(locator)
    if not consumer.spec.watchable:
        return _switched_off(ports, consumer, seconds)
    first = consumer.signs_of_life(ports.store.read())
    if not first:
        return "nothing in the store has an owner"
    _require_enough(first, seconds, consumer.watch_needed(locator.options))
    ports.sleep(seconds)
    second = consumer.signs_of_life(ports.store.read())
    moved = sorted(key for key in second if second[key] != first.get(key))
    if moved:
        named = ", ".join(moved[:3]) + (f" and {len(moved) - 3} more" if len(moved) > 3 else "")
        raise ConsumerRunning(
            f"the consumer is running: in {seconds:g} s {len(moved)} of {len(first)} watched "
            f"rows moved ({named})",
            "stop every process of it, wait until its rows are still, and run this again",
        )
    return consumer.excluded_by(seconds)


def _require_enough(signs: Collection[str], seconds: float, needed: float) -> None:
    """UsageError unless a running consumer would have changed such rows in that time."""
    if seconds < needed:
        named, least = ", ".join(sorted(signs)[:3]), f"{math.ceil(needed)}s"
        raise UsageError(
            f"a watch of {seconds:g} s is too short: {named} may stand still for that long while "
            f"the consumer runs; the least is {least}",
            f"--watch {least}, or --assume-stopped if you know that it is stopped",
        )


def _switched_off(ports: Ports, consumer: Consumer, seconds: float) -> str:
    """What a store without signs of life still says: perhaps that the consumer is switched off."""
    images = ports.store.read()
    state = consumer.enabled_state(images)
    if state is None:
        raise Refused(
            "nothing in this store tells whether the consumer runs: a quiet one leaves no trace",
            "stop every process of it, make sure of it where they run, and add --assume-stopped",
        )
    if state.on:
        raise Refused(state.refusal, state.next)
    ports.sleep(seconds)
    again = ports.store.read()
    later = consumer.enabled_state(again)
    moved = sorted({row.key for row in images} ^ {row.key for row in again}) or [
        new.key for old, new in zip(images, again, strict=True) if old != new
    ]
    if moved or later != state:
        raise ConsumerRunning(
            f"in {seconds:g} s rows of the store moved: {', '.join(moved[:3])}",
            "something publishes still, or was switched on: wait, and run this again",
        )
    return state.excluded
