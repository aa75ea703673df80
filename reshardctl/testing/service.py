"""The streams of one fake, how a request names one of them, and answers in AWS's shapes."""

from __future__ import annotations

from msgspec import Struct, field

from reshardctl.testing.requests import Answer, Request, invalid, shard_not_found, stream_not_found
from reshardctl.testing.shards import Record, Shard, shard_id
from reshardctl.testing.stream import Stream, TokenError, seal, unseal


class Settings(Struct):
    """All durations are virtual seconds. The defaults are AWS's where AWS states one."""

    create_seconds: float = 5.0
    reshard_seconds: float = 5.0
    """How long a stream is UPDATING; meanwhile the old topology is listed."""
    delete_seconds: float = 5.0
    page_limit: int = 1000
    """Shards a ListShards page at most, whatever MaxResults says (ListShards API reference)."""
    token_seconds: float = 300.0
    """Lifetime of a NextToken (ListShards API reference)."""
    iterator_seconds: float = 300.0
    """Lifetime of a shard iterator (GetShardIterator API reference)."""
    reads_per_second: int | None = None
    """GetRecords calls a second a shard; AWS allows 5. None = no limit."""
    refuse_at_end: bool = False
    """Refuse AT_SEQUENCE_NUMBER on an EndingSequenceNumber. What AWS does is not known."""
    end_with_last_records: bool = False
    """Whether the end of a closed shard comes with its last records, not in an empty answer after.
    """
    arrival_lag: float = 0.0
    """Arrival timestamp minus the second in the number; AWS showed 0.3 to 2.5 s."""
    updates_per_day: int = 10
    """UpdateShardCount calls a stream in 24 hours (UpdateShardCount API reference)."""


class Service(Struct):
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
                self.graves[key] = max(self.graves.get(key, 0), stream.newest_second())
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


def hash_range(shard: Shard) -> Answer:
    """A HashKeyRange."""
    return {"StartingHashKey": str(shard.low), "EndingHashKey": str(shard.high)}


def listed_shard(shard: Shard, closed: bool) -> Answer:
    """A Shard of ListShards and DescribeStream."""
    numbers = {"StartingSequenceNumber": str(shard.starting)}
    if closed:
        numbers["EndingSequenceNumber"] = str(shard.ending)
    answer: Answer = {
        "ShardId": shard.id,
        "HashKeyRange": hash_range(shard),
        "SequenceNumberRange": numbers,
    }
    if shard.parents:
        answer["ParentShardId"] = shard_id(shard.parents[0])
    if len(shard.parents) > 1:
        answer["AdjacentParentShardId"] = shard_id(shard.parents[1])
    return answer


def child_shard(shard: Shard) -> Answer:
    """A ChildShard of GetRecords."""
    return {
        "ShardId": shard.id,
        "ParentShards": [shard_id(parent) for parent in shard.parents],
        "HashKeyRange": hash_range(shard),
    }


def record(stored: Record) -> Answer:
    """A Record of GetRecords."""
    return {
        "SequenceNumber": str(stored.number),
        "ApproximateArrivalTimestamp": round(stored.arrival, 3),
        "Data": stored.payload,
        "PartitionKey": stored.key,
    }


class Position(Struct, frozen=True):
    """One iterator. `issued` is epoch seconds."""

    region: str
    name: str
    created: int
    shard: int
    number: int
    issued: float

    @classmethod
    def at(cls, stream: Stream, shard: Shard, number: int, now: float) -> Position:
        """An iterator on this shard that is issued now."""
        return cls(stream.region, stream.name, stream.created, shard.number, number, now)

    @classmethod
    def opened(cls, text: str) -> Position:
        """The iterator behind an opaque text; InvalidArgumentException if there is none."""
        try:
            fields = unseal("ShardIterator", text)
        except TokenError:
            invalid("Invalid ShardIterator.")
        region, name, created, shard, number, issued = fields["at"]
        return cls(region, name, created, shard, int(number), issued)

    def sealed(self) -> str:
        """The opaque text."""
        fields = [self.region, self.name, self.created, self.shard, str(self.number), self.issued]
        return seal("ShardIterator", {"at": fields})
