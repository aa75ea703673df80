"""What the simulation predicts for each shard when the consumer starts; anomalies of its rows.

An anomaly is what is wrong with a stored row, apart from its position.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from reshardctl.model.cuts import Cut, Span
from reshardctl.model.shards import ShardId


class Cause(StrEnum):
    """Why a shard meets its fate; rules match on it. No library's own words are used."""

    POSITION = "position"
    """Resumes at its stored position."""
    CREATED_AT_PARENT_END = "created-at-parent-end"
    """No position yet; the consumer creates one when the parents end."""
    BOOTSTRAP = "bootstrap"
    """An empty store: the consumer creates its first positions."""
    REFILLED = "refilled"
    """No position; a recovery pass creates one, at the application's start mode."""
    NO_POSITION = "no-position"
    """No position, and nothing will ever create one."""
    FINISHED = "finished"
    """Marked as finished."""
    FALSE_END = "false-end"
    """Marked as finished while the shard is open."""
    GONE = "gone"
    """The shard is no longer listed; the consumer treats that as its end."""
    UNBORN = "unborn"
    """The shard does not exist yet; the consumer treats that as its end."""
    FOREIGN_NUMBER = "foreign-number"
    """The stored number does not belong to this shard; every request for it fails."""
    AT_END = "at-end"
    """The stored number is the shard's EndingSequenceNumber."""
    LATEST = "latest"
    """Starts at the tip as of the consumer's own start."""
    TIME_WITHOUT_CLOCK = "time-without-clock"
    """The position says "by time" while the application does not start by time."""
    UNREADABLE = "unreadable"
    """The consumer cannot read the row."""
    BAD_END_MARK = "bad-end-mark"
    """An end mark in a form that the consumer does not recognise."""
    TAKEN_FOR_READ = "taken-for-read"
    """The shard is closed; the consumer assumes that it was read to its end, whatever its position.
    """
    MERGE_WAITS = "merge-waits"
    """Cannot end while the other parent of its merge has no position."""
    UNMARKED = "unmarked"
    """Resumes at its position, or begins; the consumer never marks a shard as finished."""
    HEAD_PASSED = "head-passed"
    """Resumes at its position or has ended; it was first read some time after it opened."""
    KNOWN_CHILD = "known-child"
    """A closed shard announces a child that is already being read, which crashes the consumer."""
    NO_CHECKPOINT = "no-checkpoint"
    """The file or row that holds all positions of the store is missing."""
    BACKFILL = "backfill"
    """Reading ends at the tips, and a child may be read before its parent announces it."""
    EXPIRED = "expired"
    """The position is older than the stream's retention, which crashes the consumer."""
    SHARED_LOG = "shared-log"
    """Progress is taken from a log that another writer uses too."""
    CLOCK_AHEAD = "clock-ahead"
    """A stored time in the future: workers wait until it has passed, or Kinesis refuses it."""
    LIVELOCK = "livelock"
    """A failure that discards all progress since the last commit recurs before the next commit."""
    TIME_NOT_PASSED = "time-not-passed"
    """A start by time has met no record, and the consumer asks for the same place for ever."""


class Delay(Struct, frozen=True):
    """Seconds before the shard is first asked for, in addition to a normal start."""

    least: float = 0.0
    most: float = 0.0


NO_DELAY = Delay()


class WillRead(Struct, frozen=True):
    """The consumer reads from `at` until `until`, once every shard of `after` has ended.

    ends: whether reading ends in a way that lets children start (an open shard never ends).
    """

    at: Span
    until: Cut
    after: frozenset[ShardId]
    ends: bool
    cause: Cause
    why: str
    delay: Delay = NO_DELAY
    possible: str = ""
    """What may still go wrong, where that is not known; "" if nothing may."""


class WontRead(Struct, frozen=True):
    """The consumer never reads the shard, however long it runs."""

    cause: Cause
    why: str
    waits_for: frozenset[ShardId] = frozenset()


Fate = WillRead | WontRead


def awaited(fate: Fate) -> frozenset[ShardId]:
    """The shards that have to end before this one is read."""
    return fate.after if isinstance(fate, WillRead) else fate.waits_for


class Crash(Struct, frozen=True):
    """The whole consumer crashes when it starts.

    until: what ends the crashes, in words. by: the shards that cause it. others: crashes of other
    causes, each of which is left once this one is repaired.
    """

    why: str
    until: str
    certain: bool = True
    cause: Cause | None = None
    by: tuple[ShardId, ...] = ()
    others: tuple[Crash, ...] = ()


class Risk(Struct, frozen=True):
    """What may go wrong with a consumer that starts, and that no new position changes.

    shards: where it may come from. helps: what the operator can do.
    """

    cause: Cause
    shards: tuple[ShardId, ...]
    why: str
    helps: str


class Simulation(Struct, frozen=True):
    """A fate for every listed shard and every shard that a row names, parents before children."""

    fates: Mapping[ShardId, Fate]
    crash: Crash | None = None
    notes: tuple[str, ...] = ()
    """Normal waits and the like, which an operator could mistake for a fault."""
    risks: tuple[Risk, ...] = ()
    orders: bool = True
    """Whether shards can wait for their parents at all; if not, disorder is not reported."""
    crashes_when_expired: bool = False
    """Whether a position older than the stream's retention crashes the whole consumer."""


class AnomalyKind(StrEnum):
    """The kinds of anomaly that rules know."""

    UNREADABLE = "unreadable"
    UNREADABLE_TO_SOME = "unreadable-to-some"
    """Some releases of the consumer cannot read the row; the simulation says which."""
    NOT_KEPT = "not-kept"
    """The consumer reads the row, and cannot save a later position there."""
    FOREIGN_ENTRY = "foreign-entry"
    PENDING = "pending"
    HAND_OFF = "hand-off"
    END_WITH_SUB = "end-with-sub"
    PARENTS_UNREADABLE = "parents-unreadable"
    GONE = "gone"
    UNBORN = "unborn"
    CLEANED_OR_LOST = "cleaned-or-lost"
    """A closed shard has no row while its children have progress, and a lost row looks the same."""
    EARLIER_INCARNATION = "earlier-incarnation"
    EARLIER_STREAM = "earlier-stream"
    LEADER_LEFT = "leader-left"
    UNREADABLE_STORE = "unreadable-store"


class Anomaly(Struct, frozen=True):
    """One anomaly. key: of the row. raw: the stored text. why: what is wrong with it."""

    kind: AnomalyKind
    key: str
    raw: str
    why: str
    shard: ShardId | None = None
