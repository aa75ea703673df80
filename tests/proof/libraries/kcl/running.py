"""A start of the real library that is under way, for what a test does to it meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.proof.libraries.kcl.dynamodb import DynamoDb
from tests.proof.libraries.kcl.log import Event, Log
from tests.proof.libraries.kcl.pace import Pace
from tests.proof.libraries.kcl.stream import ServedStream

OFTEN_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Running:
    """One application of the library at work on its table and its stream.

    Each ``wait`` raises AssertionError, with what happened last, when its seconds run out.
    """

    dynamodb: DynamoDb
    table: str
    stream: ServedStream
    log: Log
    pace: Pace
    patience: float
    counters: Mapping[str, str]
    """The lease counters by key, as they were before the start."""

    def items(self) -> list[dict[str, Any]]:
        """The table as it is now, by key (DynamoDB JSON)."""
        return self.dynamodb.items(self.table)

    def leases(self) -> dict[str, dict[str, Any]]:
        """The rows that are leases, by key."""
        rows = {item["leaseKey"]["S"]: item for item in self.items()}
        return {key: row for key, row in rows.items() if "checkpoint" in row}

    @contextmanager
    def edit(self, *takes: str) -> Iterator[None]:
        """Around what the test changes: marks its beginning and its end in the log.

        takes: the shards whose owner may lose its lease by it, each once. Any other loss is the
        machine's doing.
        """
        self.log.add(Event("EDIT", time.time(), {"takes": " ".join(takes)}))
        yield
        self.log.add(Event("EDITED", time.time(), {}))

    def wait_owned(self) -> None:
        """Until the table has leases and each that is not ended has been taken since the start.

        A stored row may well name an owner; only a counter that moves shows that it lives.
        """
        self.wait(lambda _: self._owned(), "an owner of every lease")

    def _owned(self) -> bool:
        found = self.leases()
        active = {k: row for k, row in found.items() if row["checkpoint"] != {"S": "SHARD_END"}}
        return bool(active) and all(
            "leaseOwner" in row and row["leaseCounter"]["N"] != self.counters.get(key)
            for key, row in active.items()
        )

    def wait_started(self, *shards: str, times: int = 1) -> None:
        """Until the library has handed each of these shards (ids) over so many times."""

        def started(log: Log) -> bool:
            inits = [event.members["shard"] for event in log.of("INIT")]
            return all(inits.count(shard) >= times for shard in shards)

        self.wait(started, f"INIT of {shards}, {times} times")

    def wait_still(self, audits: int | None = None, seconds: float | None = None) -> None:
        """Until nothing has moved for so many audits and seconds; as told, or by the pace."""
        most = self.pace.audits
        audits = most if audits is None else min(audits, most)
        seconds = self.pace.seconds if seconds is None else seconds
        self.wait(lambda log: log.still(audits, seconds), "an end of all movement")

    def wait(self, until: Callable[[Log], bool], what: str) -> None:
        """Until this holds; looked at after each event, or every 0.2 s."""
        deadline = time.monotonic() + self.patience
        while not until(self.log):
            if time.monotonic() > deadline or self.log.ended():
                last = "\n".join(map(str, self.log.events()[-30:]))
                raise AssertionError(f"in vain: {what}\n{last}")
            self._pause()

    def _pause(self) -> None:
        seen = len(self.log.events())
        self.log.wait(lambda log: len(log.events()) > seen, OFTEN_SECONDS)
