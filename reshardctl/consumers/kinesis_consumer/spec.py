"""harlow/kinesis-consumer: its tables and keys in DynamoDB, Redis, PostgreSQL and MySQL.

The image of a position is the same whatever the store, so that one encoding serves all of them:

    key         APP-STREAM/shardId-000000000003   (`key_of`)
    attributes  namespace {"S": "APP-STREAM"}, shard_id {"S": "shardId-…"},
                sequence_number {"S": "49…"}

A new row has exactly these three attributes, a moved one sets `sequence_number` under the guard of
its old value. Where each store keeps them (store/ddb, store/redis, store/postgres and store/mysql
of harlow/kinesis-consumer v0.5.0):

DynamoDB    the item has the three attributes; HASH namespace (S), RANGE shard_id (S). Telegraf's
            input writes the same. Items may have further attributes, which are images' too; the
            library's own PutItem drops them. The number may be mistyped: it is kept as it is.
Redis       key APP:checkpoint:STREAM:SHARD, a string without a time to live, which is the number.
            A time to live that somebody gave it is kept apart (`ENDS`).
            The image's namespace is APP-STREAM all the same. A key of another type is read as no
            position by the library (Get's error is dropped): its image has no `sequence_number`.
PostgreSQL  columns namespace text, shard_id text, sequence_number numeric, primary key of the first
            two. The number's text has no exponent, no fraction and no leading zeros.
MySQL       the same with varchar(255) and numeric(65,0); REPLACE INTO is how the library writes.
            The columns' collation says what is equal: mostly without regard to case.

The namespace joins application and stream with a dash that both may contain: `a-b` reading `c` and
`a` reading `b-c` share their rows, and nothing in a store tells them apart (Redis: it does).
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from reshardctl.codec.values import LATEST
from reshardctl.consumers.spec import (
    A_TABLE,
    DATABASE,
    REDIS,
    TABLE_NAME,
    Missing,
    Scheme,
    Spec,
    create_dynamodb_table,
)
from reshardctl.consumers.tables import NewTable, OwnTables
from reshardctl.model import Image, ShardId, Stream, TableShape
from reshardctl.model.images import (
    ENDS,
    NO_TRANSACTIONS,
    NO_UNIQUE_KEY,
    OTHER_COLUMNS,
    SAME_KEY,
    UNGUARDED,
)

NAMESPACE, SHARD, NUMBER = "namespace", "shard_id", "sequence_number"


WORKER = "WORKER#"
"""How the keys of a consumer group's workers begin."""


def tables(table: str, _options: Mapping[str, str]) -> tuple[TableShape, ...]:
    """The table; it is read whole, so that other applications in it can be named."""
    return (TableShape(table, hash=NAMESPACE, range=SHARD, holds="kinesis-consumer positions"),)


def heads(options: Mapping[str, str], stream: str) -> Mapping[str, str]:
    """How the keys begin that GetCheckpoint asks for: the whole namespace, and a shard's id."""
    app = options.get("app", "")
    return {SHARD: "shardId-"} | ({NAMESPACE: f"{app}-{stream}"} if app else {})


def key_of(namespace: str, shard: str) -> str:
    """The image key of a shard's row."""
    return tables("", {})[0].image_key(namespace, shard)


def shard_of(key: str) -> ShardId:
    """The shard in an image key; of a consumer group's lease, the leased shard."""
    return ShardId(key.partition("/")[2].removeprefix("LEASE#"))


_COLUMN_TYPES = {
    "postgres": ("text", "numeric"), "mysql": ("varchar(255)", "numeric(65,0)"),
}
"""README of harlow/kinesis-consumer v0.5.0, whose PostgreSQL and MySQL stores make no table."""


def _create_table(medium: str, table: str) -> str:
    """The SQL that creates a table of positions in a relational database."""
    if medium not in _COLUMN_TYPES:
        return ""
    key, number = _COLUMN_TYPES[medium]
    quote = '"' if medium == "postgres" else "`"
    name = table if table.replace("_", "").isalnum() else quote + table + quote
    return (
        f"CREATE TABLE {name} (namespace {key} NOT NULL, shard_id {key} NOT NULL, sequence_number "
        f"{number} NOT NULL, PRIMARY KEY (namespace, shard_id))"
    )


def _create_store(missing: Missing) -> str:
    """The SQL that creates a table of positions in a relational database, else the command."""
    if missing.medium not in _COLUMN_TYPES:
        return create_dynamodb_table(missing)
    statement = _create_table(missing.medium, missing.error.table)
    return f"{missing.error.next}; make it first: {statement}"


def new_tables(table: str, options: Mapping[str, str]) -> OwnTables:
    """The table, which neither the library nor Telegraf makes; both name its key in their README.

    Billed by request, as the library's example for consumer groups makes it (v0.5.0,
    examples/consumer-group-ddb/main.go); with the time to live that its README wants for a group,
    which rows of workers alone have (group/consumergroup/ddb/repository.go).
    """
    grouped = "group" in options or options.get("release", "").partition("-")[0] == "group"
    ttl = ("ttl", WORKER) if grouped else ("", "")
    return OwnTables(
        (NewTable(tables(table, options)[0], None, (), *ttl),),
        "neither kinesis-consumer nor Telegraf makes the table",
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
            "kinesis-consumer", "dynamodb", TABLE_NAME, A_TABLE,
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
    new_tables=new_tables,
    create_table=_create_table,
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
    types=dict.fromkeys((NAMESPACE, SHARD, NUMBER), "S"),
    rests_on=(NUMBER, "completed"),
    reading=frozenset({NUMBER, "completed"}),
    plain=frozenset({"true", "false", NO_UNIQUE_KEY, NO_TRANSACTIONS}),
    selectors=("app", "group", "table"),
    ends_by_number=True,
    # Only positions are written, and a quiet shard's does not change (runs, Nov 2026).
    watchable=False,
)
