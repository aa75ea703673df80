"""Which writes of a plan are safe while the consumer runs; refuses the others, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reshardctl.errors import ConsumerRunning, Refused
from reshardctl.model import Step, writes_of

NAMED = 3
"""Writes named in a message."""


def all_live(steps: Iterable[Step]) -> bool:
    """Whether there is a write, and every one is safe while the consumer runs."""
    writes = writes_of(steps)
    return bool(writes) and all(write.live for write in writes)


def counted(steps: Iterable[Step]) -> str:
    """The words `2 of 3 writes are safe while it runs`."""
    writes = writes_of(steps)
    safe = sum(write.live for write in writes)
    if safe == len(writes):
        every = "the write is" if safe == 1 else f"all {safe} writes are"
        return f"{every} safe while it runs"
    return f"{safe or 'none'} of {len(writes)} writes {'is' if safe < 2 else 'are'} safe " \
        "while it runs"


def live_for_all(plans: Sequence[tuple[Step, ...]]) -> tuple[Step, ...]:
    """The first of several plans that write the same; a write is live only if it is in each."""
    against = {
        write.key: write.running for steps in plans for write in writes_of(steps) if not write.live
    }
    if len(plans) == 1:
        return plans[0]
    return tuple(
        replace(step, writes=tuple(
            replace(write, live=False, running=against[write.key])
            if write.key in against else write
            for write in step.writes
        ))
        for step in plans[0]
    )


def not_live(steps: Iterable[Step], why: str) -> list[Step]:
    """The same steps, with no write live."""
    return [
        replace(step, writes=tuple(replace(w, live=False, running=why) for w in step.writes))
        for step in steps
    ]


def require_live(steps: Sequence[Step]) -> None:
    """Raises Refused, naming the writes that are not safe while the consumer runs."""
    unsafe = [write for write in writes_of(steps) if not write.live]
    if not unsafe:
        return
    named = "; ".join(
        f"{write.key}: {write.running or 'not tried while it runs'}" for write in unsafe[:NAMED]
    )
    more = f"; and {len(unsafe) - NAMED} more" if len(unsafe) > NAMED else ""
    raise Refused(
        f"--live: {counted(steps)}. {named}{more}. Nothing was written",
        "stop every worker, wait for its failover time, and run this without --live",
    )


def suggesting(refusal: ConsumerRunning, steps: Sequence[Step]) -> ConsumerRunning:
    """The refusal of a running consumer, which also says whether --live would work."""
    if all_live(steps):
        hint = f"or leave it running: {counted(steps)}, add --live"
    elif any(write.live for write in writes_of(steps)):
        hint = f"--live would not do: {counted(steps)}"
    else:
        return refusal
    return ConsumerRunning(refusal.what, f"{refusal.next}   ({hint})")
