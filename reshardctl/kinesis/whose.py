"""Whose sequence numbers these are: what Kinesis says of them, and which streams the account has.

GetShardIterator refuses a number that did not come from the shard's stream (the text in `REFUSED`
was reported for AWS: logstash-input-kinesis#22, amazon-kinesis-connectors#8), and reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from reshardctl.at_once import together
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import CallError, Kind, Transport
from reshardctl.kinesis.walk import ENDED
from reshardctl.model import decode, shard_id

PAGES = 20
"""Most pages of ListStreams that are read, of a hundred streams each."""
MOST_STREAMS = PAGES * 100
"""An account with so many may have more, which are not listed."""


def takes(
    transport: Transport, target: Target, numbers: Iterable[int], iterator: str
) -> dict[int, bool | None]:
    """Whether Kinesis takes each number in the shard that it names.

    Several are asked about at the same time: the service allows five such calls a second for each
    shard, and each shard is asked about few numbers.

    iterator: AT_SEQUENCE_NUMBER or AFTER_SEQUENCE_NUMBER, as the consumer asks. `None` where that
    cannot be told: no permission (then no further number is asked about), or the shard is gone.
    Raises CallError's own error for everything else.
    """
    wanted = list(numbers)
    if not wanted:
        return {}
    first = _takes(transport, target, wanted[0], iterator)
    if first is Kind.DENIED:
        return dict.fromkeys(wanted)
    rest = wanted[1:]
    asked = [partial(_takes, transport, target, number, iterator) for number in rest]
    answers = [first, *together(asked)]
    return {
        number: answer if isinstance(answer, bool) else None
        for number, answer in zip(wanted, answers, strict=True)
    }


def _takes(transport: Transport, target: Target, number: int, iterator: str) -> bool | Kind:
    decoded = decode(number)
    assert decoded is not None, number
    try:
        transport.call(
            "get_shard_iterator", target, **target.words, ShardId=shard_id(decoded.shard),
            ShardIteratorType=iterator, StartingSequenceNumber=str(number),
        )
    except CallError as failed:
        if failed.kind is Kind.INVALID:
            return ENDED in failed.message
        if failed.kind in (Kind.DENIED, Kind.ABSENT):
            return failed.kind
        raise failed.told from None
    return True


def streams(transport: Transport, region: str) -> Mapping[str, float] | None:
    """The account's streams in the region: ARN → creation time (Unix seconds).

    `None` where ListStreams fails, for lack of permission as a rule: other streams are not known.
    """
    try:
        return dict(_streams(transport, Target("", region)))
    except CallError:
        return None


def _streams(transport: Transport, target: Target) -> Iterator[tuple[str, float]]:
    token: dict[str, object] = {}
    for _ in range(PAGES):
        page = transport.call("list_streams", target, **token)
        for stream in page.get("StreamSummaries", ()):
            created = stream.get("StreamCreationTimestamp")
            if created is not None:
                yield stream["StreamARN"], created.timestamp()
        if not page.get("HasMoreStreams") or "NextToken" not in page:
            return
        token = {"NextToken": page["NextToken"]}
