"""Where the libraries keep their positions: planted there, named to the tool and to the library."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reshardctl.model import Image
from tests.proof.libraries.go.situations import Situation
from tests.proof.libraries.kcl.dynamodb import DynamoDb
from tests.support.position_tables import create_table
from tests.support.servers import PASSWORD, USER, Running

KINSUMER = {"checkpoints": "Shard", "clients": "ID", "metadata": "Key"}
"""The tables of an application and their keys (CreateRequiredTables, kinsumer v1.7.0)."""
PASSWORDS = {"redis": "REDISCLI_AUTH", "postgres": "PGPASSWORD", "mysql": "MYSQL_PWD"}


@dataclass(frozen=True, slots=True)
class Place:
    """One application's positions: the locator without start mode and release, what the library
    is told, and what is in the environment of the tool."""

    locator: str
    settings: Mapping[str, str]
    surroundings: Mapping[str, str] = field(default_factory=dict)


class Stores:
    """DynamoDB Local and the servers of this session; each situation has a place of its own."""

    def __init__(self, dynamodb: DynamoDb, servers: Mapping[str, Running]) -> None:
        self._dynamodb = dynamodb
        self._servers = servers
        self._serial = itertools.count(1)

    def plant(self, situation: Situation, images: Iterable[Image]) -> Place:
        """Puts the rows of a case where the library will look for them."""
        name = f"app{next(self._serial)}"
        if situation.consumer == "kinsumer":
            return self._kinsumer(name, images)
        if situation.store == "ddb":
            return self._table(name, images)
        if situation.store == "redis":
            return self._redis(name, images)
        return self._sql(situation.store, name, images)

    def asked_again(self, place: Place) -> frozenset[str]:
        """Finished shards that kinsumer asks for first, as its ShardCache names them or is empty.

        A row that cannot be captured is not asked for: one with an owner, or a mistyped attribute.
        """
        if not place.locator.startswith("kinsumer:"):
            return frozenset()
        app = place.settings["app"]
        rows = self._scan(f"{app}_checkpoints")
        cached = [r for r in self._scan(f"{app}_metadata") if r["Key"] == {"S": "ShardCache"}]
        listed = [each.get("S") for r in cached for each in r.get("ShardIDs", {}).get("L", [])]
        return frozenset(
            row["Shard"]["S"] for row in rows
            if "N" in row.get("Finished", {}) and "S" not in row.get("OwnerID", {})
            and "N" in row.get("LastUpdate", {})
            and (not listed or row["Shard"]["S"] in listed)
        )

    def _kinsumer(self, app: str, images: Iterable[Image]) -> Place:
        for table, key in KINSUMER.items():
            self._create(f"{app}_{table}", [key])
        for image in images:
            self._put(f"{app}_{image.key.partition('/')[0]}", image)
        settings = {"dynamodb": self._dynamodb.address, "app": app}
        return Place(f"kinsumer://{app}?", settings, self._surroundings())

    def _table(self, name: str, images: Iterable[Image]) -> Place:
        self._create(name, ["namespace", "shard_id"])
        for image in images:
            self._put(name, image)
        settings = {
            "dynamodb": self._dynamodb.address, "app": "app", "table": name, "store": "ddb",
        }
        locator = f"kinesis-consumer+ddb://{name}?app=app&"
        return Place(locator, settings, self._surroundings())

    def _redis(self, app: str, images: Iterable[Image]) -> Place:
        import redis

        running = self._servers["redis"]
        with redis.Redis(port=running.port, password=PASSWORD) as client:
            for stream, shard, number in _plain(images):
                assert number is not None
                client.set(f"{app}:checkpoint:{stream}:{shard}", number)
        address = f"127.0.0.1:{running.port}"
        settings = {"app": app, "store": "redis", "address": address, "password": PASSWORD}
        locator = f"kinesis-consumer+redis://{address}/0?app={app}&"
        return Place(locator, settings, self._surroundings("redis"))

    def _sql(self, kind: str, table: str, images: Iterable[Image]) -> Place:
        running = self._servers[kind]
        connection = connected(kind, running)
        try:
            cursor = connection.cursor()
            rows = list(_plain(images))
            nullable = any(number is None for *_, number in rows)
            cursor.execute(create_table(kind, table, nullable=nullable))
            for stream, shard, number in rows:
                cursor.execute(
                    f"INSERT INTO {table} VALUES (%s, %s, %s)",  # noqa: S608 - a name of ours
                    (f"app-{stream}", shard, number),
                )
            connection.commit()
        finally:
            connection.close()
        address = {
            "postgres": f"postgres://{USER}:{PASSWORD}@{running.target}?sslmode=disable",
            "mysql": f"{USER}:{PASSWORD}@tcp(127.0.0.1:{running.port})/{running.database}",
        }[kind]
        settings = {"app": "app", "store": kind, "address": address, "table": table}
        locator = f"kinesis-consumer+{kind}://{USER}@{running.target}?app=app&table={table}&"
        return Place(locator, settings, self._surroundings(kind))

    def _surroundings(self, kind: str = "") -> dict[str, str]:
        found = {"AWS_ENDPOINT_URL_DYNAMODB": self._dynamodb.address}
        return found | ({PASSWORDS[kind]: PASSWORD} if kind else {})

    def _create(self, table: str, keys: list[str]) -> None:
        kinds = zip(keys, ("HASH", "RANGE"), strict=False)
        self._dynamodb.client.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in kinds],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        )

    def _scan(self, table: str) -> list[dict[str, Any]]:
        return list(self._dynamodb.client.scan(TableName=table, ConsistentRead=True)["Items"])

    def _put(self, table: str, image: Image) -> None:
        item = {name: _bytes(dict(value)) for name, value in image.attributes.items()}
        self._dynamodb.client.put_item(TableName=table, Item=item)


def _bytes(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"B": base64.b64decode(value["B"])} if "B" in value else value


def _plain(images: Iterable[Image]) -> Iterable[tuple[str, str, str | bytes | None]]:
    """Stream, shard and number of each row of the application `app`; others are DynamoDB's."""
    for image in images:
        row = {name: _bytes(value) for name, value in image.attributes.items()}
        app, _, stream = row["namespace"]["S"].partition("-")
        if app == "app":
            number = row.get("sequence_number", {})
            yield stream, row["shard_id"]["S"], number.get("S", number.get("B"))


def connected(kind: str, running: Running) -> Any:
    """A connection of the driver of `postgres` or `mysql`."""
    login: dict[str, Any] = {
        "host": "127.0.0.1", "port": running.port, "user": USER, "password": PASSWORD,
    }
    if kind == "postgres":
        import psycopg

        return psycopg.connect(dbname=running.database, **login)
    import pymysql

    return pymysql.connect(database=running.database, **login)
