"""The IAM actions that the calls need, by command group."""

from __future__ import annotations

ACTIONS = {
    "inspect": ("kinesis:DescribeStreamSummary", "kinesis:ListShards"),
    "probe": (
        "kinesis:DescribeStreamSummary",
        "kinesis:GetRecords",
        "kinesis:GetShardIterator",
        "kinesis:ListShards",
    ),
}
"""Command group → actions on the stream. Reading an encrypted stream's records (`probe`) also needs
kms:Decrypt on its key."""
