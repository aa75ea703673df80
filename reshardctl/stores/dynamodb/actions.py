"""The IAM actions that the calls need, by command group."""

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
    "discover": ("dynamodb:DescribeTable", "dynamodb:ListTables", "dynamodb:Scan"),
    "beside": ("dynamodb:GetItem", "dynamodb:Scan"),
    "log": (
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:DescribeTable",
        "dynamodb:PutItem",
        "dynamodb:Scan",
    ),
}
"""Command group → actions on the table. `fix` stands for `fix` and `undo`.

`beside`: on the side tables of KCL 3.0-3.4, for every command. Without it they are not read, and
the report says so. `log`: on the table of a log, for `fix` and `undo`: its rows are deleted and
restored, never updated.

A transaction needs the actions of the writes in it and none of its own (Amazon DynamoDB Developer
Guide, "Using IAM with DynamoDB transactions")."""
