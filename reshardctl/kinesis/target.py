"""The stream as the operator names it: a name or an ARN. `ACTIONS`: what its calls need of IAM."""

from __future__ import annotations

import re

from msgspec import Struct

from reshardctl.errors import UsageError, command_line

# Patterns of StreamName, StreamARN and ConsumerARN in the Kinesis API reference.
_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,128}\Z", re.ASCII)
_ARN = re.compile(
    r"arn:[^:]+:kinesis:(?P<region>[^:]+):(?P<account>\d{12}):stream/(?P<name>[\w.-]{1,128})\Z",
    re.ASCII,
)
_CONSUMER = re.compile(r"/consumer/[\w.-]+:\d+\Z", re.ASCII)

CHECK = "check --region and --profile (the table's own: --table-region, --table-profile):"
"""What to do where there is no such stream: the place that is named may be the table's."""


class Target(Struct, frozen=True):
    """A stream. An ARN is sent as an ARN: across accounts nothing else is accepted."""

    name: str
    region: str
    arn: str = ""

    @property
    def words(self) -> dict[str, str]:
        """The arguments that name the stream in a request."""
        return {"StreamARN": self.arn} if self.arn else {"StreamName": self.name}

    @property
    def resource(self) -> str:
        """The name of the stream in a policy."""
        return self.arn or f"arn:aws:kinesis:{self.region}:*:stream/{self.name}"

    @property
    def option(self) -> str:
        """The option that names the stream to the aws CLI."""
        named = ("--stream-arn", self.arn) if self.arn else ("--stream-name", self.name)
        return command_line(*named, "--region", self.region)


def region_in(stream: str) -> str:
    """The region that an ARN names, "" for a name."""
    match = _ARN.match(stream)
    return match["region"] if match else ""


def target_of(stream: str, region: str) -> Target:
    """Reads a name or an ARN. UsageError if it is neither, or an ARN of another region."""
    if not stream.startswith("arn:"):
        if not _NAME.match(stream):
            raise UsageError(
                f"{stream!r} is no stream name", "give --stream a name or a stream's ARN"
            )
        return Target(stream, region)
    match = _ARN.match(stream)
    if match is None:
        own = _CONSUMER.sub("", stream)
        if own != stream and _ARN.match(own):
            raise UsageError(
                f"{stream!r} is the ARN of a consumer of the stream (enhanced fan-out)",
                f"name the stream itself: {own}",
            )
        raise UsageError(
            f"{stream!r} is no ARN of a stream",
            "it has the form arn:aws:kinesis:REGION:ACCOUNT:stream/NAME",
        )
    if match["region"] != region:
        raise UsageError(
            f"stream {match['name']} is in {match['region']}, but {region} would be asked",
            f"add --region {match['region']}",
        )
    return Target(match["name"], region, stream)


ACTIONS = {
    "inspect": (
        "kinesis:DescribeStreamSummary",
        "kinesis:GetShardIterator",
        "kinesis:ListShards",
    ),
    "probe": (
        "kinesis:DescribeStreamSummary",
        "kinesis:GetRecords",
        "kinesis:GetShardIterator",
        "kinesis:ListShards",
    ),
    "name": ("kinesis:ListStreams",),
}
"""Command group → actions on the stream. Reading an encrypted stream's records (`probe`) also needs
kms:Decrypt on its key. `name` is on all streams, and optional: it names the stream to which
positions belong that are not this stream's."""
