"""What one application of the library reported, and when it has nothing more to report."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MOVES = frozenset(
    {"BEGUN", "INIT", "RECORD", "SHARD_END", "LEASE_LOST", "CREATED", "EDIT", "EDITED"}
)
ENDS = frozenset({"DIED", "STOPPED"})


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the runner; ``at`` is epoch seconds, ``members`` depend on the kind.

    EDIT and EDITED are a test's own: it is about to change the table under the library, and has;
    ``takes`` of EDIT holds the ids of the shards whose leases their owner may lose by it.
    """

    kind: str
    at: float
    members: Mapping[str, str]

    def __str__(self) -> str:
        members = " ".join(f"{name}={value}" for name, value in self.members.items())
        return f"{self.at:.3f} {self.kind} {members}"


class Log:
    """The events of one run, in order; safe to fill from one thread and read from others."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._changed = threading.Condition()

    def add(self, event: Event) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def events(self) -> list[Event]:
        with self._changed:
            return list(self._events)

    def of(self, *kinds: str) -> list[Event]:
        return [event for event in self.events() if event.kind in kinds]

    def wait(self, until: Callable[[Log], bool], seconds: float) -> bool:
        """Wait, at most so long, until this holds; what depends on time is looked at each 0.1 s."""
        deadline = time.monotonic() + seconds
        while not until(self):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            with self._changed:
                self._changed.wait(min(left, 0.1))
        return True

    def ended(self) -> bool:
        return bool(self.of(*ENDS))

    def still(self, audits: int, seconds: float, since: float = 0.0) -> bool:
        """Whether, once begun, nothing moved for so many audits and seconds; or all is over.

        Audits are what the library itself counts by when it mends a table, so they are the
        clock here too; ``since`` (epoch seconds) counts as a move.
        """
        events = self.events()
        if any(event.kind in ENDS for event in events):
            return True
        if not any(event.kind == "BEGUN" for event in events):
            return False
        moved = max([since, *(event.at for event in events if event.kind in MOVES)])
        seen = sum(event.kind == "AUDIT" and event.at > moved for event in events)
        return seen >= audits and time.time() - moved >= seconds
