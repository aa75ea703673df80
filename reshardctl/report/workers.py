"""One row for each worker: the shards that it owns, and what is known of it besides.

Owners are those of the shards' rows. Some libraries keep a row for each worker, too, which shows
when it last gave a sign of life, and those that own nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from reshardctl.diagnosis.rules import Severity
from reshardctl.report.report import case_of
from reshardctl.report.status import ConsumerStatus, PositionKind, ShardStatus


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """One worker.

    name: as rows name their owner; "" for nobody, whose shards no worker owns. shards: its rows of
    the status, in their order. seen: Unix seconds of its last sign of life in a row of its own,
    `None` if the store has none. leads: whether it holds the leader's lock.
    """

    name: str
    shards: tuple[ShardStatus, ...] = ()
    seen: float | None = None
    leads: bool = False

    @property
    def unfinished(self) -> tuple[ShardStatus, ...]:
        """Its shards that are not read to their end."""
        return tuple(row for row in self.shards if row.position.kind is not PositionKind.DONE)

    @property
    def lag(self) -> float | None:
        """The longest lag of its shards, in seconds; `None` if none is known."""
        known = [row.lag.seconds for row in self.shards if row.lag.seconds is not None]
        return max(known, default=None)

    @property
    def verdict(self) -> Severity | None:
        """The gravest severity of the findings that name one of its shards."""
        return max((row.verdict for row in self.shards if row.verdict), default=None)

    @property
    def rules(self) -> tuple[str, ...]:
        """The codes of these findings, the gravest shard's first."""
        return tuple(dict.fromkeys(code for row in self.shards for code in row.rules))


def by_worker(status: ConsumerStatus) -> list[WorkerStatus]:
    """The workers of a status: the gravest verdict first, then the longest lag.

    Shards of nobody that are finished are left out: their rows wait to be deleted.
    """
    case = case_of(status.report.snapshot, status.report.options)
    own: defaultdict[str, list[ShardStatus]] = defaultdict(list)
    for row in status.rows:
        own[row.owner].append(row)
    known = {worker.name: worker for worker in case.consumer.workers(case.checkpoint())}
    found = [
        WorkerStatus(
            name, tuple(own.get(name, ())), known[name].seen if name in known else None,
            name in known and known[name].leads,
        )
        for name in dict.fromkeys([*own, *known])
    ]
    return sorted((one for one in found if one.name or one.unfinished), key=_worst_first)


def _worst_first(worker: WorkerStatus) -> tuple[Any, ...]:
    return -(worker.verdict or 0), -(worker.lag or 0.0), worker.name
