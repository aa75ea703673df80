"""Which IAM actions the calls need, by what the operator wants."""

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
"""Verb group → actions on the stream. Reading an encrypted stream's records (`probe`) needs
kms:Decrypt on its key besides."""
