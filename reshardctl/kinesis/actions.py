"""Which IAM actions the calls need, by what the operator wants."""

from __future__ import annotations

import json

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


def allow(actions: tuple[str, ...], resource: str) -> str:
    """The policy statement that permits `actions` on a stream, as one line of JSON."""
    return json.dumps({"Effect": "Allow", "Action": list(actions), "Resource": resource})
