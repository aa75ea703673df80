"""The IAM actions that the calls need, by command group."""

from __future__ import annotations

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
