"""The command that makes a consumer's table again, where it was deleted, or the statement.

Keys: as the libraries make them (KCL DynamoDBLeaseSerializer.getKeySchema: leaseKey; kinsumer's
and kinesis-consumer's own sources). Billing on demand: no release looks at it, and the capacity
that KCL 1.x used to provide (10 and 10) is too little for a fleet that starts at once. The index
on leaseOwner KCL 3.x adds itself at its first start, as it does to an older table.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from reshardctl.consumers.layouts import TABLES
from reshardctl.consumers.locator import Locator
from reshardctl.model import TableShape

SQL = {
    "postgres": ("text", "numeric"), "mysql": ("varchar(255)", "numeric(65,0)"),
}
"""README of harlow/kinesis-consumer v0.5.0, whose PostgreSQL and MySQL stores make no table."""


def statement(medium: str, table: str) -> str:
    """The SQL that makes a table of positions in a relational database."""
    key, number = SQL[medium]
    quoted = '"' if medium == "postgres" else "`"
    name = table if table.replace("_", "").isalnum() else quoted + table + quoted
    return (
        f"CREATE TABLE {name} (namespace {key} NOT NULL, shard_id {key} NOT NULL, sequence_number "
        f"{number} NOT NULL, PRIMARY KEY (namespace, shard_id))"
    )


def creation(place: Locator, table: str, more: Sequence[str]) -> str:
    """The command. more: words that say which region and account."""
    shaped = TABLES.get(place.consumer)
    shapes = shaped(place.target, place.options) if shaped else (TableShape(place.target),)
    shape = next((one for one in shapes if one.name == table), shapes[0])
    keys = zip(shape.names, ("HASH", "RANGE"), strict=False)
    words = [
        "aws", "dynamodb", "create-table", "--table-name", shape.name,
        "--attribute-definitions",
        *(f"AttributeName={name},AttributeType=S" for name in shape.names),
        "--key-schema", *(f"AttributeName={name},KeyType={kind}" for name, kind in keys),
        "--billing-mode", "PAY_PER_REQUEST", *more,
    ]
    return " ".join(shlex.quote(word) for word in words)
