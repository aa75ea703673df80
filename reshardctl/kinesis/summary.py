"""DescribeStreamSummary: a stream's identity, retention and status."""

from __future__ import annotations

from reshardctl.errors import CannotTell
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import CallError, Transport
from reshardctl.model import Stream

_HOUR = 3600


def summary(transport: Transport, target: Target) -> Stream:
    """The stream's identity and status. UsageError if there is no such stream."""
    try:
        answer = transport.call("describe_stream_summary", target, **target.words)
    except CallError as failed:
        raise failed.told from None
    try:
        description = answer["StreamDescriptionSummary"]
        return Stream(
            arn=description["StreamARN"],
            name=description["StreamName"],
            created=description["StreamCreationTimestamp"].timestamp(),
            retention=description["RetentionPeriodHours"] * _HOUR,
            status=description["StreamStatus"],
            mode=description.get("StreamModeDetails", {}).get("StreamMode", "PROVISIONED"),
            open_shards=description["OpenShardCount"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        what = f"DescribeStreamSummary of {target.name}: the answer makes no sense ({error!r})"
        raise CannotTell(what, "check that the endpoint is Kinesis") from None
