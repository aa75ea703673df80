"""FakeKinesis: the service's behaviour under a virtual clock, with a log of every call.

`fake.client().list_shards(...)` calls it in boto3's style, without HTTP. An API action is one
function over parameters and answers in AWS's shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import RLock
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from reshardctl.testing.changing import (
    create_stream,
    decrease_retention,
    delete_stream,
    describe_limits,
    describe_stream,
    describe_stream_summary,
    increase_retention,
    list_streams,
    merge_shards,
    put_record,
    put_records,
    split_shard,
    update_shard_count,
)
from reshardctl.testing.faults import Faults
from reshardctl.testing.reading import get_records, get_shard_iterator, list_shards
from reshardctl.testing.requests import (
    REQUIRED,
    Answer,
    ApiError,
    Call,
    NoAnswerError,
    Request,
    check,
    missing_parameters,
    unknown_parameters,
)
from reshardctl.testing.service import Service, Settings, number_of
from reshardctl.testing.shards import Record, doubling_steps
from reshardctl.testing.stream import ON_DEMAND, Stream, VirtualClock

_TIMES = frozenset({"StreamCreationTimestamp", "ApproximateArrivalTimestamp"})
_ENDPOINT = "https://kinesis.{region}.amazonaws.com"
_ACTIONS = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): name for name in REQUIRED}


class Client:
    """Calls the fake and raises botocore's exceptions; it does not retry.

    Exceptions: ClientError, ParamValidationError, EndpointConnectionError (nothing was done) and
    ReadTimeoutError (the answer was lost). Timestamps are returned as aware datetimes, blobs as
    bytes, absent values are left out.
    """

    def __init__(self, call: Callable[[str, Mapping[str, Any], str], Answer], region: str) -> None:
        self._call = call
        endpoint = _ENDPOINT.format(region=region)
        self.meta = SimpleNamespace(region_name=region, endpoint_url=endpoint)
        self.exceptions = _Exceptions()

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        action = _ACTIONS.get(name)
        if action is None:
            raise AttributeError(f"'Kinesis' object has no attribute '{name}'")

        def method(**params: object) -> Answer:
            return self._request(action, params)

        return method

    def close(self) -> None:
        """Nothing to close."""

    def _request(self, action: str, params: dict[str, object]) -> Answer:
        _check_known(action, params)
        try:
            answer = self._call(action, _as_sent(params), self.meta.region_name)
        except ApiError as error:
            raise self.exceptions.from_code(error.code)(_error_shape(error), action) from None
        except NoAnswerError as broken:
            raise _broken(broken, self.meta.endpoint_url) from None
        parsed = {name: _as_parsed(value, name) for name, value in answer.items()}
        parsed = {name: value for name, value in parsed.items() if value is not None}
        parsed["ResponseMetadata"] = {"HTTPStatusCode": 200, "RetryAttempts": 0}
        return parsed


class _Exceptions:
    """`client.exceptions.X`: a subclass of ClientError for every code, made on demand."""

    def __init__(self) -> None:
        self._made: dict[str, type[Exception]] = {}

    @property
    def ClientError(self) -> type[Exception]:  # noqa: N802 - the name in boto3
        from botocore.exceptions import ClientError

        base: type[Exception] = ClientError
        return base

    def from_code(self, code: str) -> Callable[[dict[str, Any], str], Exception]:
        if code not in self._made:
            self._made[code] = type(code, (self.ClientError,), {})
        return self._made[code]

    def __getattr__(self, name: str) -> Callable[[dict[str, Any], str], Exception]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.from_code(name)


def _check_known(action: str, params: Mapping[str, Any]) -> None:
    problems = [f'Missing required parameter in input: "{name}"'
                for name in missing_parameters(action, params)]  # fmt: skip
    problems += [f'Unknown parameter in input: "{name}"'
                 for name in unknown_parameters(action, params)]  # fmt: skip
    if problems:
        from botocore.exceptions import ParamValidationError

        raise ParamValidationError(report="\n".join(problems))


def _broken(broken: NoAnswerError, endpoint: str) -> Exception:
    from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

    kind = ReadTimeoutError if broken.executed else EndpointConnectionError
    made: Exception = kind(endpoint_url=endpoint, error=broken)
    return made


def _error_shape(error: ApiError) -> dict[str, Any]:
    return {
        "Error": {"Code": error.code, "Message": error.message},
        "ResponseMetadata": {"HTTPStatusCode": error.status, "RetryAttempts": 0},
        "message": error.message,
    }


def _as_blob(value: object) -> object:
    """Encodes text as UTF-8, which boto3 does for a blob."""
    return value.encode() if isinstance(value, str) else _as_sent(value)


def _as_sent(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _as_blob(v) if k == "Data" else _as_sent(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_as_sent(item) for item in value]
    if isinstance(value, datetime):
        return value.timestamp()
    return bytes(value) if isinstance(value, bytearray) else value


def _as_parsed(value: object, name: str = "") -> object:
    if isinstance(value, dict):
        return {k: _as_parsed(v, k) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_as_parsed(item) for item in value]
    if name in _TIMES and isinstance(value, float):
        return datetime.fromtimestamp(value, UTC).astimezone()
    return value


OPERATIONS: dict[str, Callable[[Service, Request], Answer]] = {
    "CreateStream": create_stream,
    "DeleteStream": delete_stream,
    "DescribeLimits": describe_limits,
    "DescribeStream": describe_stream,
    "DescribeStreamSummary": describe_stream_summary,
    "ListStreams": list_streams,
    "ListShards": list_shards,
    "GetShardIterator": get_shard_iterator,
    "GetRecords": get_records,
    "PutRecord": put_record,
    "PutRecords": put_records,
    "SplitShard": split_shard,
    "MergeShards": merge_shards,
    "UpdateShardCount": update_shard_count,
    "IncreaseStreamRetentionPeriod": increase_retention,
    "DecreaseStreamRetentionPeriod": decrease_retention,
}

MUTATING = frozenset(
    {
        "CreateStream",
        "DeleteStream",
        "PutRecord",
        "PutRecords",
        "SplitShard",
        "MergeShards",
        "UpdateShardCount",
        "IncreaseStreamRetentionPeriod",
        "DecreaseStreamRetentionPeriod",
    }
)
"""Actions that change a stream; a test asserts that none of them was called."""


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
