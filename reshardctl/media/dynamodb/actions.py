"""Which IAM actions the calls need, by what the operator wants."""

from __future__ import annotations

import json

ACTIONS = {
    "inspect": ("dynamodb:DescribeTable", "dynamodb:Scan"),
    "fix": (
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:DescribeTable",
        "dynamodb:PutItem",
        "dynamodb:Scan",
        "dynamodb:UpdateItem",
    ),
}
"""Verb group → actions on the table. `fix` stands for `fix` and `undo`.

A transaction needs the actions of the writes in it and none of its own (Amazon DynamoDB Developer
Guide, "Using IAM with DynamoDB transactions").
"""


def allow(actions: tuple[str, ...], resource: str) -> str:
    """The policy statement that permits `actions` on a table, as one line of JSON."""
    return json.dumps({"Effect": "Allow", "Action": list(actions), "Resource": resource})
