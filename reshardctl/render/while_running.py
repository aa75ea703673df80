"""Which writes are safe while the application runs, in words."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.model import Step, Write, writes_of
from reshardctl.planning.writes import all_live, counted_writes


def write_words(write: Write) -> str:
    """One write's mark and why; "" where nobody has looked."""
    if not write.running:
        return ""
    return f"{'live-safe' if write.live else 'stop first'}: {write.running}"


def plan_words(steps: Sequence[Step]) -> str:
    """What holds for the whole plan, and what follows; "" where nobody has looked."""
    if not any(write.running for write in writes_of(steps)):
        return ""
    way = "--live writes without a stop" if all_live(steps) else "stop the application first"
    return f"{counted_writes(steps)}; {way}"
