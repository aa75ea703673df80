"""The long run: every small table, then random ones until the time is over.

RESHARDCTL_SIM_SECONDS says how long (default: one hour), RESHARDCTL_SIM_SEED where random scenes
begin (default: a new place each day, so that nights differ and each can be run again).
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from itertools import chain, count

from tests.proof.exhaustive.checking import first_violation, seconds
from tests.proof.exhaustive.scenes import count as small
from tests.proof.exhaustive.scenes import nth, scene

HOUR = 3600.0


def main() -> int:
    """0 if all holds, 1 after the first violation, whose case file is printed."""
    until = time.monotonic() + (seconds() or HOUR)
    days = (datetime.now(UTC) - datetime(2026, 1, 1, tzinfo=UTC)).days
    first = int(os.environ.get("RESHARDCTL_SIM_SEED", days * 10_000_000))
    started, done = time.monotonic(), 0
    for one in chain(map(nth, range(small())), map(scene, count(first))):
        if time.monotonic() > until:
            break
        if (told := first_violation([one])) is not None:
            print(told)
            return 1
        done += 1
    rate = done / (time.monotonic() - started)
    print(f"{done} tables, {rate:.0f} a second, of {small()} small ones; random from {first}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
