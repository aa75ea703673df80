"""GetShardIterator, with the answers that AWS was seen to give to wrong numbers."""

from __future__ import annotations

from typing import NoReturn

from reshardctl.testing.errors import invalid
from reshardctl.testing.operations.positions import Position
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.sequence import SequenceNumber, SequenceNumberError, parse
from reshardctl.testing.service import Service, shard_of
from reshardctl.testing.shards import Shard, shard_id
from reshardctl.testing.stream import Stream
from reshardctl.testing.timestamps import seconds


def get_shard_iterator(service: Service, request: Request) -> Answer:
    """GetShardIterator, all five types."""
    stream = service.readable(request)
    shard = shard_of(stream, request.params["ShardId"])
    number = _start(service, request, stream, shard)
    return {"ShardIterator": Position.at(stream, shard, number, request.now).sealed()}


def _start(service: Service, request: Request, stream: Stream, shard: Shard) -> int:
    """The least number that the iterator may return."""
    kind = request.params["ShardIteratorType"]
    given: str | None = request.params.get("StartingSequenceNumber")
    if kind in ("TRIM_HORIZON", "LATEST"):
        if given is not None:
            _mismatch(kind, "and also a StartingSequenceNumber")
        return shard.starting if kind == "TRIM_HORIZON" else shard.tip + 1
    if kind == "AT_TIMESTAMP":
        return _at_timestamp(request, shard)
    if given is None:
        _mismatch(kind, "and no StartingSequenceNumber")
    return _at_number(service, stream, shard, kind, given)


def _mismatch(kind: str, what: str) -> NoReturn:
    invalid(
        "Must either specify (1) AT_SEQUENCE_NUMBER or AFTER_SEQUENCE_NUMBER and "
        "StartingSequenceNumber or (2) TRIM_HORIZON or LATEST and no StartingSequenceNumber. "
        f"Request specified {kind} {what}."
    )


def _at_timestamp(request: Request, shard: Shard) -> int:
    if request.params.get("Timestamp") is None:
        invalid(
            "Must specify timestampInMillis parameter for iterator of type AT_TIMESTAMP. "
            "Current request has no timestamp parameter."
        )
    then = seconds(request.params["Timestamp"])
    if then > request.now:
        invalid(
            "The timestampInMillis parameter cannot be greater than the currentTimestampInMillis. "
            f"timestampInMillis: {int(then * 1000)}, "
            f"currentTimestampInMillis: {int(request.now * 1000)}"
        )
    # Arrival times are not monotonic: the first record counts, not the earliest time.
    numbers = (record.number for record in shard.records if record.arrival >= then)
    return next(numbers, shard.tip + 1)


def _at_number(service: Service, stream: Stream, shard: Shard, kind: str, text: str) -> int:
    where = (
        f"StartingSequenceNumber {text} used in GetShardIterator on shard {shard.id} "
        f"in stream {stream.name} under account {stream.account} is invalid"
    )
    try:
        number = parse(text)
    except SequenceNumberError:
        invalid(f"{where}.")
    if number.shard != shard.number:
        invalid(
            f"Invalid StartingSequenceNumber. It encodes {shard_id(number.shard)}, "
            f"while it was used in a call to a shard with {shard.id}"
        )
    if not _came_from(shard, number):
        invalid(f"{where} because it did not come from this stream.")
    if number.is_end and (kind == "AFTER_SEQUENCE_NUMBER" or service.settings.refuse_at_end):
        invalid(
            f"Invalid SequenceNumber for ShardIteratorType {kind}, "
            "SequenceNumber has reached max possible value for the shard."
        )
    return int(number) + (kind == "AFTER_SEQUENCE_NUMBER")


def _came_from(shard: Shard, number: SequenceNumber) -> bool:
    """Whether this shard could have given out the number.

    Whether AWS compares the epoch or the listed range is not known; a real number of some shard
    passes both, and one of another incarnation passes neither.
    """
    if shard.ending is not None and int(number) > shard.ending:
        return False
    return number.epoch in shard.epochs and int(number) >= shard.starting
