"""Which IAM actions the calls need, by what the operator wants."""

from __future__ import annotations

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
