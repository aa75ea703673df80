"""One fake stream: its status, its shards, its trim horizon, and reshards under way.

The clock is virtual: time moves only when a test says so, or with real time from a given start.
NextTokens and shard iterators are opaque to clients, self-contained, protected against edits.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime
from threading import Lock
from typing import Any

from msgspec import Struct, field

from reshardctl.testing.requests import ApiError
from reshardctl.testing.shards import Piece, Shard, Split, Step, boundaries, parse

PROVISIONED = "PROVISIONED"
ON_DEMAND = "ON_DEMAND"

BIRTH_LEAD = 3
"""Seconds by which a root's number is older than StreamCreationTimestamp, on seven of seven public
streams (tests/golden/sequence_numbers.json)."""


class Stream(Struct):
    """One stream; all times are epoch seconds. Call `settle` first: it applies due changes."""

    name: str
    account: str
    region: str
    created: int
    retention_hours: int = 24
    mode: str = PROVISIONED
    status: str = "ACTIVE"
    status_until: float = 0.0
    """When CREATING or DELETING ends."""
    horizon: float = 0.0
    """Records that arrived earlier, and shards closed earlier, are gone."""
    shards: dict[int, Shard] = field(default_factory=dict)
    """By number, in ascending order."""
    order: list[int] = field(default_factory=list)
    generation: int = 0
    """Number of splits and merges that happened."""
    shown: int | None = None
    """The generation that is listed while the stream is UPDATING."""
    previous: int = 0
    """The generation before the last reshard."""
    pending: list[tuple[float, Step]] = field(default_factory=list)
    count_updates: list[float] = field(default_factory=list)
    """Times of UpdateShardCount calls."""

    @property
    def arn(self) -> str:
        """The stream's ARN."""
        return f"arn:aws:kinesis:{self.region}:{self.account}:stream/{self.name}"

    def add_roots(self, count: int) -> None:
        """Give a new stream its first shards."""
        edges = boundaries(count)
        for number in range(count):
            low, high = edges[number], edges[number + 1] - 1
            self.add(Shard(number, low, high, (), self.created - BIRTH_LEAD, float(self.created)))

    def add(self, shard: Shard) -> Shard:
        """Add a shard; ValueError unless its number is greater than all before it."""
        if shard.number < self.free:
            raise ValueError(f"{shard.id} is out of order or there twice")
        self.shards[shard.number] = shard
        self.order.append(shard.number)
        return shard

    def settle(self, now: float) -> None:
        """Apply all changes that are due by `now`: creation, reshards, trimming."""
        if self.status == "CREATING" and self.status_until <= now:
            self.status = "ACTIVE"
        while self.pending and self.pending[0][0] <= now:
            when, step = self.pending.pop(0)
            self._apply(step, when)
        if self.status == "UPDATING" and not self.pending:
            self.status, self.shown = "ACTIVE", None
        self.horizon = max(self.horizon, now - self.retention_hours * 3600)

    def begin(self, steps: Sequence[Step], now: float, seconds: float) -> None:
        """Start a reshard that takes `seconds`; the last step happens at its end."""
        self.previous = self.shown = self.generation
        self.status = "UPDATING"
        count = len(steps)
        self.pending = [(now + seconds * ((i + 1) / count), step) for i, step in enumerate(steps)]
        self.settle(now)

    def _apply(self, step: Step, when: float) -> None:
        self.generation += 1
        if isinstance(step, Split):
            parent = self.shards[step.parent]
            born = parent.close(when, self.generation) + 1
            self._bear(parent.low, step.at - 1, (step.parent,), born, when)
            self._bear(step.at, parent.high, (step.parent,), born, when)
            return
        pair = (self.shards[step.parent], self.shards[step.adjacent])
        born = max(shard.close(when, self.generation) for shard in pair) + 1
        low, high = min(s.low for s in pair), max(s.high for s in pair)
        self._bear(low, high, (step.parent, step.adjacent), born, when)

    def _bear(self, low: int, high: int, parents: tuple[int, ...], born: int, when: float) -> None:
        self.add(Shard(self.free, low, high, parents, born, when, born=self.generation))

    @property
    def free(self) -> int:
        """The number that the next shard gets."""
        return self.order[-1] + 1 if self.order else 0

    def open_pieces(self) -> list[Piece]:
        """The open shards as they are now, whatever is listed."""
        return [Piece(s.number, s.low, s.high) for s in self.shards.values() if s.closed is None]

    def owner(self, hash_key: int) -> Shard | None:
        """The open shard that takes records with this hash key."""
        for shard in self.shards.values():
            if shard.closed is None and shard.low <= hash_key <= shard.high:
                return shard
        return None

    def children(self, number: int) -> list[Shard]:
        """The shards that name `number` as a parent, in the order of their ids."""
        return [shard for shard in self.shards.values() if number in shard.parents]

    def expired(self, shard: Shard) -> bool:
        """Whether the shard is gone: withdrawn, or closed for longer than the retention."""
        return shard.withdrawn or (shard.closed is not None and shard.closed < self.horizon)

    def live(self, number: int) -> Shard | None:
        """The shard with this number if it can still be read; trims it first."""
        shard = self.shards.get(number)
        if shard is None or self.expired(shard):
            return None
        shard.trim(self.horizon)
        return shard

    def listed(self, last: int | None, after: int = -1) -> Iterator[tuple[Shard, bool]]:
        """Shards above `after` as generation `last` (None: now) lists them, and whether closed."""
        for index in range(bisect_right(self.order, after), len(self.order)):
            shard = self.shards[self.order[index]]
            if self.expired(shard) or (last is not None and shard.born > last):
                continue
            ended = shard.ended
            yield shard, ended is not None and (last is None or ended <= last)

    def newest_second(self) -> int:
        """The greatest second in any number; a stream of the same name starts after it."""
        return max((parse(str(s.tip)).time for s in self.shards.values()), default=0)


class VirtualClock:
    """Epoch seconds as the fake sees them. Never runs backwards."""

    def __init__(self, start: float, *, ticking: bool = False) -> None:
        self._base = float(start)
        self._lock = Lock()
        self._since = time.monotonic()
        self.ticking = ticking

    def now(self) -> float:
        """Epoch seconds."""
        with self._lock:
            return self._read()

    def advance(self, seconds: float) -> float:
        """Move forward; returns the new time. ValueError if `seconds` is negative."""
        if seconds < 0:
            raise ValueError("the clock does not run backwards")
        with self._lock:
            self._base += seconds
            return self._read()

    def set(self, epoch: float) -> None:
        """Jump to `epoch`. ValueError if that is in the past."""
        with self._lock:
            if epoch < self._read():
                raise ValueError("the clock does not run backwards")
            self._base = float(epoch)
            self._since = time.monotonic()

    def _read(self) -> float:
        return self._base + (time.monotonic() - self._since if self.ticking else 0.0)


_SEAL = 8


class TokenError(ValueError):
    """The text is no token of this kind."""


def seal(kind: str, fields: dict[str, Any]) -> str:
    """An opaque text that `unseal` of the same kind turns back into `fields`."""
    body = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
    return base64.b64encode(_sum(kind, body) + body).decode()


def unseal(kind: str, text: str) -> dict[str, Any]:
    """The fields of a token; raises TokenError for a token of another kind."""
    try:
        raw = base64.b64decode(text.encode(), validate=True)
    except (binascii.Error, UnicodeEncodeError) as broken:
        raise TokenError(text) from broken
    body = raw[_SEAL:]
    if raw[:_SEAL] != _sum(kind, body):
        raise TokenError(text)
    fields: dict[str, Any] = json.loads(body)
    return fields


def _sum(kind: str, body: bytes) -> bytes:
    return hashlib.sha256(kind.encode() + b"\0" + body).digest()[:_SEAL]


_MILLISECONDS_FROM = 1e11
"""Seconds reach this in the year 5138; SDK v1 without CBOR sends milliseconds."""


def seconds(value: object) -> float:
    """Epoch seconds from a datetime, from seconds, or from milliseconds."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"{type(value).__name__} can not be converted to milliseconds since epoch"
        raise ApiError("SerializationException", message)
    return value / 1000 if abs(value) >= _MILLISECONDS_FROM else float(value)
