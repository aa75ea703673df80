"""The streams of one fake and how a request names one of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from reshardctl.testing.errors import invalid, shard_not_found, stream_not_found
from reshardctl.testing.requests import Request
from reshardctl.testing.settings import Settings
from reshardctl.testing.shards import Shard
from reshardctl.testing.stream import Stream


@dataclass(slots=True)
class Service:
    """What the operations work on: streams by (region, name), and the settings."""

    account: str
    settings: Settings
    streams: dict[tuple[str, str], Stream] = field(default_factory=dict)
    graves: dict[tuple[str, str], int] = field(default_factory=dict)
    """The newest second in any number of a deleted stream of that name."""

    def settle(self, now: float) -> None:
        """Apply all changes that are due by `now`."""
        for key, stream in list(self.streams.items()):
            if stream.status == "DELETING" and stream.status_until <= now:
                self.graves[key] = stream.newest_second()
                del self.streams[key]
                continue
            stream.settle(now)

    def stream_of(self, request: Request) -> Stream:
        """The stream that the request names by StreamName, StreamARN or both."""
        name, arn = request.params.get("StreamName"), request.params.get("StreamARN")
        if arn is not None:
            return self._by_arn(request, arn, name)
        if name is None:
            invalid("Either StreamName or StreamARN should be provided.")
        stream = self.streams.get((request.region, name))
        if stream is None:
            stream_not_found(name, self.account)
        return stream

    def _by_arn(self, request: Request, arn: str, name: str | None) -> Stream:
        arn_name = arn.rpartition("/")[2]
        if name is not None and name != arn_name:
            invalid(f"StreamName {name} does not match StreamARN {arn}.")
        stream = self.streams.get((request.region, arn_name))
        if stream is None or stream.arn != arn:
            parts = arn.split(":")
            stream_not_found(arn_name, parts[4] if len(parts) > 4 else self.account)
        return stream

    def readable(self, request: Request) -> Stream:
        """Like stream_of, for reads and writes: a stream that is being created is not found."""
        stream = self.stream_of(request)
        if stream.status not in ("ACTIVE", "UPDATING"):
            stream_not_found(stream.name, stream.account)
        return stream


def shard_of(stream: Stream, shard_id: str) -> Shard:
    """The shard of that id if it can be read; ResourceNotFoundException otherwise."""
    shard = stream.live(number_of(shard_id))
    if shard is None:
        shard_not_found(shard_id, stream.name, stream.account)
    return shard


def number_of(shard_id: str) -> int:
    """The number in a shard id, -1 if it has none. AWS ignores the rest."""
    digits = shard_id.rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdigit() else -1
