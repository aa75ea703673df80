"""How a position's namespace and shard become the key of its image, in every store.

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

from reshardctl.model import ShardId, TableShape

NAMESPACE, SHARD, NUMBER = "namespace", "shard_id", "sequence_number"


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
