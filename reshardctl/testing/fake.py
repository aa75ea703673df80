"""FakeKinesis: the service's behaviour under a virtual clock, with a log of every call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import RLock
from typing import Any

from reshardctl.testing.client import Client
from reshardctl.testing.clock import VirtualClock
from reshardctl.testing.constraints import check
from reshardctl.testing.errors import ApiError
from reshardctl.testing.faults import Faults
from reshardctl.testing.operations import MUTATING, OPERATIONS
from reshardctl.testing.requests import Answer, Call, Request
from reshardctl.testing.reshard import doubling_steps
from reshardctl.testing.service import Service, number_of
from reshardctl.testing.settings import Settings
from reshardctl.testing.shards import Record
from reshardctl.testing.stream import ON_DEMAND, Stream


class FakeKinesis:
    """A Kinesis of one account, in memory; safe to call from several threads.

    `clock` moves it, `settings` tunes it, `faults` breaks it, `calls` is the log. `load_topology`
    makes one that already holds streams.
    """

    def __init__(
        self,
        *,
        start: float = 1_700_000_000.0,
        ticking: bool = False,
        account: str = "123456789012",
        region: str = "us-east-1",
        settings: Settings | None = None,
    ) -> None:
        self.clock = VirtualClock(start, ticking=ticking)
        self.settings = settings or Settings()
        self.faults = Faults()
        self.calls: list[Call] = []
        self.region = region
        self._service = Service(account, self.settings)
        self._lock = RLock()

    @property
    def account(self) -> str:
        """The account id, part of every ARN."""
        return self._service.account

    def call(self, action: str, params: Mapping[str, Any], region: str | None = None) -> Answer:
        """Answer one request; raises ApiError or NoAnswerError. `params` are in AWS's shape."""
        request = Request(action, params, region or self.region, self.account)
        with self._lock:
            self.calls.append(Call(action, params))
        fault = self.faults.take(request)
        # Faults run unlocked: a test may let one wait while it does something else.
        return self._execute(request) if fault is None else fault(request, self._execute)

    def _execute(self, request: Request) -> Answer:
        operation = OPERATIONS.get(request.action)
        if operation is None:
            raise ApiError("UnknownOperationException", f"{request.action} is not offered here.")
        check(request.action, request.params)
        with self._lock:
            now = self.clock.now()
            self._service.settle(now)
            return operation(self._service, replace(request, now=now))

    def client(self, region_name: str | None = None) -> Client:
        """An object that is called like boto3's Kinesis client."""
        return Client(self.call, region_name or self.region)

    @property
    def actions(self) -> set[str]:
        """The API actions that were called."""
        return {call.action for call in self.calls}

    @property
    def mutating_calls(self) -> list[Call]:
        """The calls that would change a stream, refused ones included."""
        return [call for call in self.calls if call.action in MUTATING]

    def stream(self, name: str, region: str | None = None) -> Stream:
        """The state of a stream after all due changes; KeyError if there is none. For tests."""
        with self._lock:
            self._service.settle(self.clock.now())
            return self._service.streams[region or self.region, name]

    def add_stream(self, stream: Stream) -> Stream:
        """Add a stream made elsewhere; ValueError if the name is taken."""
        key = (stream.region, stream.name)
        with self._lock:
            if key in self._service.streams:
                raise ValueError(f"stream {stream.name} is there twice")
            self._service.streams[key] = stream
        return stream

    def settle(self) -> None:
        """Advance the clock until every stream has finished what it is doing."""
        with self._lock:
            now = self.clock.now()
            due = [now]
            for stream in self._service.streams.values():
                due += [when for when, _ in stream.pending]
                if stream.status in ("CREATING", "DELETING"):
                    due.append(stream.status_until)
            self.clock.advance(max(due) - now)
            self._service.settle(self.clock.now())

    def put(self, name: str, shard: int | str, payload: bytes | str, key: str = "k") -> Record:
        """Put a record straight into an open shard, without the API and its call log."""
        number = number_of(shard) if isinstance(shard, str) else shard
        raw = payload.encode() if isinstance(payload, str) else payload
        with self._lock:
            target = self.stream(name).shards[number]
            if target.closed is not None:
                raise ValueError(f"{target.id} is closed")
            now = self.clock.now()
            return target.put(raw, key, now, now + self.settings.arrival_lag)

    def trim_shard(self, name: str, shard: int) -> None:
        """Remove a shard from listings and reads, whatever its age."""
        with self._lock:
            self.stream(name).shards[shard].withdrawn = True

    def double(self, name: str) -> None:
        """Scale an on-demand stream up as the service does by itself; ValueError otherwise."""
        with self._lock:
            stream = self.stream(name)
            if stream.mode != ON_DEMAND or stream.status != "ACTIVE":
                raise ValueError(f"{name} is not an active on-demand stream")
            steps = doubling_steps(stream.open_pieces())
            stream.begin(steps, self.clock.now(), self.settings.reshard_seconds)
