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
        found = answer["StreamDescriptionSummary"]
        return Stream(
            arn=found["StreamARN"],
            name=found["StreamName"],
            created=found["StreamCreationTimestamp"].timestamp(),
            retention=found["RetentionPeriodHours"] * _HOUR,
            status=found["StreamStatus"],
            mode=found.get("StreamModeDetails", {}).get("StreamMode", "PROVISIONED"),
            open_shards=found["OpenShardCount"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        what = f"DescribeStreamSummary of {target.name}: the answer makes no sense ({error!r})"
        raise CannotTell(what, "check that the endpoint is Kinesis") from None
