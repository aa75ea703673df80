"""harlow/kinesis-consumer: its tables and keys in DynamoDB, Redis, PostgreSQL and MySQL."""

from __future__ import annotations

from urllib.parse import quote

from reshardctl.codec.values import LATEST
from reshardctl.consumers.kinesis_consumer.tables import NUMBER, heads, tables
from reshardctl.consumers.spec import (
    DATABASE,
    REDIS,
    TABLE_NAME,
    Missing,
    Scheme,
    Spec,
    create_dynamodb_table,
)
from reshardctl.model import Image, Stream
from reshardctl.model.images import (
    ENDS,
    NO_TRANSACTIONS,
    NO_UNIQUE_KEY,
    OTHER_COLUMNS,
    SAME_KEY,
    UNGUARDED,
)

_COLUMN_TYPES = {
    "postgres": ("text", "numeric"), "mysql": ("varchar(255)", "numeric(65,0)"),
}
"""README of harlow/kinesis-consumer v0.5.0, whose PostgreSQL and MySQL stores make no table."""


def _create_store(missing: Missing) -> str:
    """The SQL that creates a table of positions in a relational database, else the command."""
    if missing.medium not in _COLUMN_TYPES:
        return create_dynamodb_table(missing)
    table, (key, number) = missing.error.table, _COLUMN_TYPES[missing.medium]
    quote = '"' if missing.medium == "postgres" else "`"
    name = table if table.replace("_", "").isalnum() else quote + table + quote
    return (
        f"{missing.error.next}; make it first: "
        f"CREATE TABLE {name} (namespace {key} NOT NULL, shard_id {key} NOT NULL, sequence_number "
        f"{number} NOT NULL, PRIMARY KEY (namespace, shard_id))"
    )


def _names_stream(row: Image, stream: Stream) -> bool | None:
    """Whether `APP-STREAM` ends with the stream's name; both may have a dash, so never True."""
    return None if _namespace(row).endswith(f"-{stream.name}") else False


def _application(row: Image, stream: Stream) -> str:
    """The part of `APP-STREAM` before the stream's name."""
    return f"app={quote(_namespace(row).removesuffix(f'-{stream.name}'), safe='')}"


def _namespace(row: Image) -> str:
    return str(row.attributes.get("namespace", {}).get("S", ""))


KINESIS_CONSUMER = Spec(
    name="kinesis-consumer",
    schemes={
        "kinesis-consumer+ddb": Scheme(
            "kinesis-consumer", "dynamodb", TABLE_NAME, "name of a DynamoDB table",
            "kinesis-consumer+ddb://my-table?app=my-application&release=0.5&initial=LATEST",
        ),
        **{
            f"kinesis-consumer+{medium}": Scheme(
                "kinesis-consumer", medium, REDIS, "Redis database, HOST[:PORT]/DB",
                f"kinesis-consumer+{medium}://my-host:6379/0?app=my-application&release=0.5",
                server=True,
            )
            for medium in ("redis", "rediss")
        },
        **{
            f"kinesis-consumer+{medium}": Scheme(
                "kinesis-consumer", medium, DATABASE, "database, [USER@]HOST[:PORT]/DATABASE",
                f"kinesis-consumer+{medium}://my-user@my-host/my-db"
                "?app=my-application&table=my_table",
                server=True,
            )
            for medium in _COLUMN_TYPES
        },
    },
    tables=tables,
    heads=heads,
    names_stream=_names_stream,
    application=_application,
    position_attribute=NUMBER,
    # The table of the DDL in the library's README; the library itself has no default.
    default_table="kinesis_consumer",
    create_store=_create_store,
    volatile_attributes=frozenset({
        "lease_expires_at", "lease_owner", "pending_owner", "handoff_deadline",
        "worker_expires_at", "ttl", ENDS, OTHER_COLUMNS, SAME_KEY, UNGUARDED,
    }),
    owner_attributes=frozenset({"lease_owner", "pending_owner"}),
    kinds=frozenset({LATEST}),
    attributes=frozenset({
        "namespace", "shard_id", NUMBER, "lease_owner", "lease_expires_at", "completed",
        "pending_owner", "handoff_deadline", "worker_expires_at", "ttl", "version",
        SAME_KEY, "count", "next", UNGUARDED,
    }),
    rests_on=(NUMBER, "completed"),
    reading=frozenset({NUMBER, "completed"}),
    plain=frozenset({"true", "false", NO_UNIQUE_KEY, NO_TRANSACTIONS}),
    selectors=("app", "group", "table"),
    # Only positions are written, and a quiet shard's does not change (runs, Nov 2026).
    watchable=False,
)
