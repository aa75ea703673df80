"""What replay says will happen to each shard when the consumer starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from reshardctl.model.cuts import Cut, Span
from reshardctl.model.shards import ShardId


class Cause(StrEnum):
    """Why a shard meets its fate; rules match on it. The words are no library's own."""

    POSITION = "position"
    """Resumes at its stored position."""
    CREATED_AT_PARENT_END = "created-at-parent-end"
    """No position yet; the consumer makes one when the parents end."""
    BOOTSTRAP = "bootstrap"
    """An empty store: the consumer makes its first positions."""
    REFILLED = "refilled"
    """No position; a recovery pass makes one, at the application's start mode."""
    NO_POSITION = "no-position"
    """No position, and nothing will ever make one."""
    FINISHED = "finished"
    """Marked as finished."""
    FALSE_END = "false-end"
    """Marked as finished while the shard is open."""
    GONE = "gone"
    """The shard is not listed any more; the consumer takes that for its end."""
    UNBORN = "unborn"
    """The shard does not exist yet; the consumer takes that for its end."""
    FOREIGN_NUMBER = "foreign-number"
    """The stored number is no number of this shard; asking for it fails for ever."""
    AT_END = "at-end"
    """The stored number is the shard's EndingSequenceNumber."""
    LATEST = "latest"
    """Starts at the tip as of its own start."""
    TIME_WITHOUT_CLOCK = "time-without-clock"
    """Stored as 'by time' while the application is not started by time."""
    UNREADABLE = "unreadable"
    """The consumer cannot read the row."""
    BAD_END_MARK = "bad-end-mark"
    """An end mark in a form that the consumer does not take for one."""
    TAKEN_FOR_READ = "taken-for-read"
    """The shard is closed; the consumer takes that for read to its end, whatever its position."""
    MERGE_WAITS = "merge-waits"
    """Cannot end while the other parent of its merge has no position."""
    UNMARKED = "unmarked"
    """Resumes at its position, or begins; the consumer marks no shard as finished, ever."""
    HEAD_PASSED = "head-passed"
    """Resumes at its position, or is over; it was begun at a time after its birth."""
    KNOWN_CHILD = "known-child"
    """A closed shard announces a child that is read already, of which the consumer dies."""
    NO_CHECKPOINT = "no-checkpoint"
    """The place in which the store holds all of its positions is not there."""
    BACKFILL = "backfill"
    """It ends at the tips, and a child may be there before its parent announces it."""
    EXPIRED = "expired"
    """The place is older than what the stream keeps, and the consumer dies of it."""
    SHARED_LOG = "shared-log"
    """A log that somebody else writes too tells where it has come to."""
    CLOCK_AHEAD = "clock-ahead"
    """A time that lies in the future keeps everybody off until it has passed."""
    LIVELOCK = "livelock"
    """A failure that undoes all progress since the last commit comes back before the next one."""


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds that pass before the shard is asked for, over and above a normal start."""

    least: float = 0.0
    most: float = 0.0


NO_DELAY = Delay()


@dataclass(frozen=True, slots=True)
class WillRead:
    """Reads from `at` until `until`, once every shard of `after` has ended.

    ends: whether it comes to an end that lets children start (an open shard never does).
    """

    at: Span
    until: Cut
    after: frozenset[ShardId]
    ends: bool
    cause: Cause
    why: str
    delay: Delay = NO_DELAY
    possible: str = ""
    """What may go wrong with it after all, where that is not known; "" when nothing may."""


@dataclass(frozen=True, slots=True)
class WontRead:
    """Is not read, however long the consumer runs."""

    cause: Cause
    why: str
    waits_for: frozenset[ShardId] = frozenset()


Fate = WillRead | WontRead


@dataclass(frozen=True, slots=True)
class Crash:
    """The whole consumer dies at its start. `until`: what ends that, in words. by: the shards that
    it dies of."""

    why: str
    until: str
    certain: bool = True
    cause: Cause | None = None
    by: tuple[ShardId, ...] = ()


@dataclass(frozen=True, slots=True)
class Risk:
    """What may go wrong with a consumer that does start, and no position changes. shards: of which
    it may come. helps: what the operator can do."""

    cause: Cause
    shards: tuple[ShardId, ...]
    why: str
    helps: str


@dataclass(frozen=True, slots=True)
class Simulation:
    """A fate for every listed shard and every shard that a row names, parents before children."""

    fates: Mapping[ShardId, Fate]
    crash: Crash | None = None
    notes: tuple[str, ...] = ()
    """Things an operator would otherwise take for trouble (waits that are normal)."""
    risks: tuple[Risk, ...] = ()
    orders: bool = True
    """Whether shards can wait for their parents at all; if not, disorder is no one's mistake."""
    dies_of_age: bool = False
    """Whether a place that is older than what the stream keeps kills the whole consumer."""
