"""One row for each worker: the shards that it owns, and what is known of it besides.

Owners are those of the shards' rows. Some libraries keep a row for each worker, too, which shows
when it last gave a sign of life, and those that own nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reshardctl.consumers.base import Migration, Worker, WorkerLimit
from reshardctl.diagnosis.rules import Severity
from reshardctl.model import Rank, Span
from reshardctl.planning.plan import processed_frontier
from reshardctl.report.lag import Lag
from reshardctl.report.next_start import Begins, NextStart, next_starts
from reshardctl.report.report import Report, case_of
from reshardctl.report.status import ConsumerStatus, ShardStatus


class WorkerStatus(Struct, frozen=True):
    """One worker.

    name: as rows name their owner; "" for nobody, whose shards no worker owns. shards: its rows of
    the status, in their order. seen: Unix seconds of its last sign of life in a row of its own,
    `None` if the store has none. leads: whether it holds the leader's lock; lock: for how many
    seconds after its renewal, `None` if not known. room: how many more leases it may take, `None`
    if no option says so.
    """

    name: str
    shards: tuple[ShardStatus, ...] = ()
    seen: float | None = None
    leads: bool = False
    lock: float | None = None
    room: int | None = None

    @property
    def unfinished(self) -> tuple[ShardStatus, ...]:
        """Its shards that are not read to their end."""
        return tuple(row for row in self.shards if not _over(row.processed, row.starts))

    @property
    def lag(self) -> Lag:
        """The longest lag of its shards, one that is not certain before one that is."""
        known = [row.lag for row in self.shards if row.lag.seconds is not None]
        return max(
            known, key=lambda lag: (lag.seconds or 0.0, -(lag.least_seconds or 0.0)), default=Lag()
        )

    @property
    def verdict(self) -> Severity | None:
        """The gravest severity of the findings that name one of its shards."""
        return max((row.verdict for row in self.shards if row.verdict), default=None)

    @property
    def rules(self) -> tuple[str, ...]:
        """The codes of these findings, the gravest shard's first."""
        return tuple(dict.fromkeys(code for row in self.shards for code in row.rules))


class Room(Struct, frozen=True):
    """What all workers together may hold, whether they run or not.

    Attributes:
        most: Leases of one worker at most.
        leases: How many there are.
        held: How many of them have an owner.
        free: How many more the workers may take.
        workers: How many workers there are.
        needed: How many workers it takes to hold all leases.
        over: Workers that hold more than they may, so that theirs is another limit.
    """

    most: int
    leases: int
    held: int
    free: int
    workers: int
    needed: int
    over: tuple[str, ...] = ()

    @property
    def without(self) -> int:
        """Leases that find no worker once every worker keeps to the limit."""
        return max(0, self.leases - self.workers * self.most)


def by_worker(status: ConsumerStatus) -> list[WorkerStatus]:
    """The workers of a status: the gravest verdict first, then the longest lag.

    Shards of nobody that are finished are left out: their rows wait to be deleted.
    """
    case = case_of(status.report.snapshot, status.report.options)
    own: defaultdict[str, list[ShardStatus]] = defaultdict(list)
    for row in status.rows:
        own[row.owner].append(row)
    known = {worker.name: worker for worker in case.consumer.workers(case.checkpoint())}
    limit = _limit(status.report)
    found = []
    for name in dict.fromkeys([*own, *known]):
        worker = known.get(name, Worker(name))
        room = None if limit is None or not name else _room(limit, name)
        found.append(WorkerStatus(
            name, tuple(own.get(name, ())), worker.seen, worker.leads, worker.lock, room
        ))
    return sorted((one for one in found if one.name or one.unfinished), key=_worst_first)


def room_of(report: Report) -> Room | None:
    """The room of all workers; `None` if no option says how many leases one may hold."""
    limit = _limit(report)
    if limit is None:
        return None
    case = case_of(report.snapshot, report.options)
    known = (worker.name for worker in case.consumer.workers(case.checkpoint()))
    names = dict.fromkeys([*limit.held, *known])
    return Room(
        limit.most, limit.leases, sum(limit.held.values()), sum(_room(limit, n) for n in names),
        len(names), -(-limit.leases // limit.most),
        tuple(sorted(name for name, number in limit.held.items() if number > limit.most)),
    )


def migrations_of(report: Report) -> Sequence[Migration]:
    """The migrations of the application's own state."""
    case = case_of(report.snapshot, report.options)
    return case.consumer.migrations(case.checkpoint())


class Ownership(Struct, frozen=True):
    """Who owns how many unfinished shards.

    workers: worker → their number, 0 for one that has a row of its own alone. unowned: unfinished
    shards with a position and without an owner. without_position: those that nobody can own yet.
    """

    workers: Mapping[str, int]
    unowned: int
    without_position: int

    @property
    def idle(self) -> int:
        """Workers without an unfinished shard."""
        return sum(not number for number in self.workers.values())


def ownership_of(report: Report) -> Ownership:
    """The same as `by_worker` in numbers, of all shards and without their lag."""
    case = case_of(report.snapshot, report.options)
    checkpoint = case.checkpoint()
    frontier = processed_frontier(case)
    starts = next_starts(report, frontier)
    workers = Counter({worker.name: 0 for worker in case.consumer.workers(checkpoint)})
    owners = case.consumer.owners_by_shard(checkpoint)
    unowned = 0
    for shard, owner in owners.items():
        unfinished = not _over(frontier.get(shard), starts.get(shard, ()))
        if owner.owner:
            workers[owner.owner] += unfinished
        else:
            unowned += unfinished
    missing = [shard for shard in case.state.lineage if shard not in owners]
    unread = [s for s in missing if not _over(frontier.get(s), starts.get(s, ()))]
    return Ownership(workers, unowned, len(unread))


def _limit(report: Report) -> WorkerLimit | None:
    case = case_of(report.snapshot, report.options)
    options = report.snapshot.locator.options
    return case.consumer.worker_limit(case.checkpoint(), options)


def _room(limit: WorkerLimit, worker: str) -> int:
    return max(0, limit.most - limit.held.get(worker, 0))


def _over(processed: Span | None, starts: Iterable[NextStart]) -> bool:
    """Whether a shard is read to its end, as a finished one of which the row was deleted is too."""
    done = processed is not None and processed.exact and processed.lo.rank is Rank.DONE
    return done or {start.begins for start in starts} == {Begins.FINISHED}


def _worst_first(worker: WorkerStatus) -> tuple[Any, ...]:
    return -(worker.verdict or 0), -(worker.lag.seconds or 0.0), worker.name
