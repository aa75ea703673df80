"""The SQL tables of positions that kinesis-consumer's users make.

As the README of harlow/kinesis-consumer v0.5.0 has them. `tests/golden/kinesis-consumer` holds what
the servers made of them.
"""

from __future__ import annotations

_COLUMNS = {
    "postgres": "namespace text NOT NULL, shard_id text NOT NULL, sequence_number numeric",
    "mysql": "namespace varchar(255) NOT NULL, shard_id varchar(255) NOT NULL, "
    "sequence_number numeric(65,0)",
}


def create_table(kind: str, name: str, further: str = "", nullable: bool = False) -> str:
    """The statement that makes the table.

    kind: `postgres` or `mysql`. further: columns of ours. nullable: whether a position may be NULL,
    which the README's tables never allow.
    """
    columns = _COLUMNS[kind] + ("" if nullable else " NOT NULL") + (further and f", {further}")
    key = f"CONSTRAINT {name}_pk PRIMARY KEY (namespace, shard_id)"
    return f"CREATE TABLE {name} ({columns}, {key})"
