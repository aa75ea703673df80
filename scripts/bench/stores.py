"""Reading and moving 10 000 positions in each kind of store, against its plain client.

The client reads every row and then writes each, in DynamoDB one by one, else a hundred at a time
or all, and compares nothing. Ours reads, then sends guarded steps, whose medium reads them once
more under a lock or a condition. The servers are real ones on loopback, but for DynamoDB, which is
moto's; what is not installed is left out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from reshardctl.commands.open_store import STORES, Reached
from reshardctl.consumers.locator import parse
from reshardctl.model import Image, Step, Update, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.dynamodb.client import list_tables
from scripts.bench.apply import _server as moto_server
from scripts.bench.apply import _session, _timed
from scripts.bench.metastore import INDEX, NUMBER, SOURCE, plant
from scripts.bench.targets import record
from tests.support.servers import PASSWORD, USER
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql
from tests.support.servers.redisserver import redis_server

POSITIONS, TOGETHER = 10_000, 100
MOVE = 1 << 80
NAMES = ("SequenceNumber", "sequence_number", "position")
"""Of a position, in the images of each consumer."""
Rows = list[tuple[str, str]]
"""Shards and their numbers."""


def run(scale: int, folder: Path) -> None:
    """Print a line a store: both ways, and the ratio."""
    count = POSITIONS // scale
    rows = [(f"shardId-{n:012d}", str(NUMBER + n * 16)) for n in range(count)]
    print(f"{count:,} positions read and moved{'client':>24}{'reshardctl':>12}")
    for name, store in STORE.items():
        try:
            with store(rows, folder) as (locator, endpoint, client):
                plain, _ = _timed(client)
                ours, _ = _timed(partial(_ours, locator, endpoint, count))
        except RuntimeError as missing:  # what is not installed
            print(f"  {name:40}left out: {missing}")
            continue
        print(f"  {name:40}{plain:8.2f} s{ours:10.2f} s{ours / plain:8.2f} x the client",
                  flush=True)
        record(f"{count:,} positions read and moved: {name}", ours, "s",
               3 if name in SQL else None, rival="its client", theirs=plain)  # fmt: skip


def _ours(text: str, endpoint: str, count: int) -> None:
    locator = parse(text)
    endpoints = {"dynamodb": endpoint} if endpoint else {}
    reached = Reached(
        "orders", _session(), "us-east-1", endpoints, time.monotonic, time.sleep,
        lambda _done, _all: None, lambda _rows: None, list_tables,
    )
    medium = STORES[locator.medium](locator, reached)
    writes = [write for image in medium.read() if (write := _moved(image)) is not None]
    if len(writes) != count:
        raise AssertionError(f"{len(writes)} positions of {count}")
    # moto copies all of its tables for a transaction, so there each write goes alone.
    for some in _some(writes, 1 if endpoint else min(medium.max_writes, 5_000)):
        if (
            medium.write(Step("bench", tuple(some)), f"bench-{some[0].key}")
            is not WriteResult.APPLIED
        ):
            raise AssertionError("not written")


def _moved(image: Image) -> Write | None:
    for name in NAMES:
        if name in image.attributes:
            number = str(int(image.attributes[name]["S"]) + MOVE)
            change = Update({name: {"S": number}})
            return Write(image.key, change, image, "a benchmark", (name,))
    return None


def _some(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _up(number: str) -> str:
    return str(int(number) + MOVE)


Reachable = tuple[str, str, Callable[[], None]]
"""A locator, DynamoDB's address or "", what the plain client does."""


@contextmanager
def _dynamodb(rows: Rows, _folder: Path) -> Iterator[Reachable]:
    with moto_server() as url:
        client = _session().client("dynamodb", endpoint_url=url)
        for name, key in (("checkpoints", "Shard"), ("clients", "ID"), ("metadata", "Key")):
            client.create_table(
                TableName=f"bench_{name}", BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
            )
        table = "bench_checkpoints"
        for some in _some(rows, 25):
            puts = [
                {"PutRequest": {"Item": {"Shard": {"S": s}, "SequenceNumber": {"S": n}}}}
                for s, n in some
            ]
            client.batch_write_item(RequestItems={table: puts})

        def plain() -> None:
            pages = client.get_paginator("scan").paginate(TableName=table)
            items = [item for page in pages for item in page["Items"]]
            for item in items:
                client.update_item(
                    TableName=table, Key={"Shard": item["Shard"]},
                    UpdateExpression="SET SequenceNumber = :n",
                    ExpressionAttributeValues={":n": {"S": _up(item["SequenceNumber"]["S"])}},
                )

        yield "kinsumer://bench?release=snowplow-1.7&initial=TRIM_HORIZON", url, plain


@contextmanager
def _redis(rows: Rows, _folder: Path) -> Iterator[Reachable]:
    import redis

    with redis_server() as running:
        client = redis.Redis(port=running.port, password=PASSWORD)
        client.mset({f"bench:checkpoint:bench:{shard}": number for shard, number in rows})

        def plain() -> None:
            keys = list(client.scan_iter("bench:checkpoint:*", count=1000))
            for some in _some(keys, TOGETHER):
                numbers: Any = client.mget(some)
                pairs = zip(some, numbers, strict=True)
                client.mset({key: _up(number.decode()) for key, number in pairs})

        address = f":{PASSWORD}@127.0.0.1:{running.port}/0"
        yield f"kinesis-consumer+redis://{address}?app=bench&release=0.5", "", plain


@contextmanager
def _postgres(rows: Rows, _folder: Path) -> Iterator[Reachable]:
    import psycopg

    with postgresql() as running:
        login: dict[str, Any] = {
            "host": "127.0.0.1", "port": running.port, "user": USER, "password": PASSWORD,
        }
        with psycopg.connect(dbname=running.database, **login) as server:
            server.execute(
                "CREATE TABLE bench (namespace text, shard_id text, sequence_number numeric, "
                "PRIMARY KEY (namespace, shard_id))"
            )
            server.cursor().executemany("INSERT INTO bench VALUES ('bench-bench', %s, %s)", rows)
            server.commit()

            def plain() -> None:
                found = server.execute("SELECT shard_id, sequence_number::text FROM bench")
                for some in _some(found.fetchall(), TOGETHER):
                    server.cursor().executemany(
                        "UPDATE bench SET sequence_number = %s WHERE shard_id = %s "
                        "AND namespace = 'bench-bench'", [(_up(n), s) for s, n in some],
                    )
                    server.commit()

            address = f"{USER}:{PASSWORD}@{running.target}"
            options = "app=bench&table=bench&release=0.5"
            yield f"kinesis-consumer+postgres://{address}?{options}", "", plain


@contextmanager
def _mysql(rows: Rows, _folder: Path) -> Iterator[Reachable]:
    import pymysql

    with mariadb() as running, closing(pymysql.connect(
        host="127.0.0.1", port=running.port, user=USER, password=PASSWORD,
        database=running.database,
    )) as server:
        cursor = server.cursor()
        cursor.execute(
            "CREATE TABLE bench (namespace varchar(255), shard_id varchar(255), "
            "sequence_number numeric(65,0), PRIMARY KEY (namespace, shard_id))"
        )
        cursor.executemany("INSERT INTO bench VALUES ('bench-bench', %s, %s)", rows)
        server.commit()

        def plain() -> None:
            cursor.execute("SELECT shard_id, CAST(sequence_number AS CHAR) FROM bench")
            for some in _some(cursor.fetchall(), TOGETHER):
                cursor.executemany(
                    "UPDATE bench SET sequence_number = %s WHERE shard_id = %s "
                    "AND namespace = 'bench-bench'", [(_up(n), s) for s, n in some],
                )
                server.commit()

        address = f"{USER}:{PASSWORD}@{running.target}"
        options = "app=bench&table=bench&release=0.5"
        yield f"kinesis-consumer+mysql://{address}?{options}", "", plain


@contextmanager
def _metastore(rows: Rows, folder: Path) -> Iterator[Reachable]:
    place = folder / INDEX / "metastore.json"
    place.parent.mkdir()
    plant(place, 0, len(rows))

    def plain() -> None:
        document = json.loads(place.read_text(encoding="utf-8"))
        entries = document["index"]["checkpoint"][SOURCE]
        document["index"]["checkpoint"][SOURCE] = {s: _up(n) for s, n in entries.items()}
        place.write_text(json.dumps(document, indent=2, ensure_ascii=False), encoding="utf-8")

    yield f"quickwit+file://{folder}?index={INDEX}", "", plain


@contextmanager
def _metastore_postgres(rows: Rows, folder: Path) -> Iterator[Reachable]:
    import psycopg

    file = folder / "row.json"
    plant(file, 0, len(rows))
    document = json.loads(file.read_text(encoding="utf-8"))["index"]
    with postgresql() as running:
        login: dict[str, Any] = {
            "host": "127.0.0.1", "port": running.port, "user": USER, "password": PASSWORD,
        }
        with psycopg.connect(dbname=running.database, autocommit=True, **login) as server:
            server.execute(
                "CREATE TABLE indexes (index_uid text PRIMARY KEY, index_id text UNIQUE, "
                "index_metadata_json text)"
            )
            server.execute("CREATE TABLE _sqlx_migrations (version bigint)")
            server.execute("INSERT INTO _sqlx_migrations VALUES (29)")
            text = json.dumps(document, separators=(",", ":"))
            server.execute(
                "INSERT INTO indexes VALUES (%s, %s, %s)", [document["index_uid"], INDEX, text]
            )

            def plain() -> None:
                row = server.execute("SELECT index_metadata_json FROM indexes").fetchone()
                assert row is not None
                (text,) = row
                document = json.loads(text)
                entries = document["checkpoint"][SOURCE]
                document["checkpoint"][SOURCE] = {s: _up(n) for s, n in entries.items()}
                text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
                server.execute("UPDATE indexes SET index_metadata_json = %s", [text])

            address = f"{USER}:{PASSWORD}@{running.target}"
            yield f"quickwit+postgres://{address}?index={INDEX}", "", plain


SQL = ("kinesis-consumer, PostgreSQL", "kinesis-consumer, MySQL (MariaDB)")
"""Those with a target."""
STORE = {
    "kinsumer, DynamoDB (moto)": _dynamodb,
    "kinesis-consumer, Redis": _redis,
    "kinesis-consumer, PostgreSQL": _postgres,
    "kinesis-consumer, MySQL (MariaDB)": _mysql,
    "Quickwit, file": _metastore,
    "Quickwit, PostgreSQL": _metastore_postgres,
}
