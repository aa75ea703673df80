"""Tables that people make, under the real harlow/kinesis-consumer v0.5.0: whose row it takes.

The library says at which number it starts each shard (`start scan`), and that is what is read here
for its row; "" where it finds none. Without a unique key its own flush fails or adds rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from reshardctl.consumers.kinesis_consumer.spec import KINESIS_CONSUMER
from reshardctl.model import TableShape
from reshardctl.stores.sql import SqlTable
from tests.proof.libraries.go.library import Library
from tests.proof.libraries.kcl.stream import ServedStream
from tests.support.case import CASES, Case, load
from tests.support.databases import mysql, postgres, running
from tests.support.needs import needs
from tests.support.servers import PASSWORD, USER, Running
from tests.unit.stores.sql.test_contract import Table

__all__ = ["mysql", "postgres", "running"]

pytestmark = pytest.mark.interop
COLUMNS = "namespace {0}, shard_id {1}, sequence_number numeric(65,0)"
KEY = ", PRIMARY KEY (namespace, shard_id)"
TABLES = {
    "postgres": {
        "text": ("text", "text", KEY), "char": ("char(40)", "char(40)", KEY),
        "no-key": ("text", "text", ""),
    },
    "mysql": {
        "general": ("varchar(255) COLLATE utf8mb4_general_ci",) * 2 + (KEY,),
        "bin": ("varchar(255) COLLATE utf8mb4_bin",) * 2 + (KEY,),
        "nopad": ("varchar(255) COLLATE utf8mb4_unicode_nopad_ci",) * 2 + (KEY,),
        "binary": ("varbinary(255)",) * 2 + (KEY,),
        "no-key": ("varchar(255)",) * 2 + ("",),
    },
}  # fmt: skip
SHARDS = [f"shardId-{number:012d}" for number in range(3)]
SPACES = ["APP-orders", "app-ORDERS ", "app-orders"]
NAMES = [SHARDS[0], SHARDS[1], SHARDS[2].upper()]


@pytest.fixture(scope="module")
@needs("real-kinesis-consumer")
def library() -> Iterator[Library]:
    library = Library("kinesis-consumer")
    yield library
    library.close()


@pytest.fixture
def case() -> Case:
    return load(CASES / "kinesis-consumer" / "a.toml")


@pytest.mark.only(lambda running, kind: kind in TABLES[running], "not possible there")
@pytest.mark.parametrize("kind", sorted(TABLES["postgres"] | TABLES["mysql"]))
def test_the_row_that_the_library_takes_is_the_one_that_is_read(
    library: Library, running: tuple[str, Running], case: Case, kind: str
) -> None:
    table = Table(*running)
    first, second, key = TABLES[running[0]][kind]
    name = table.shape.name.lower()
    table.sql(f"CREATE TABLE odd_{name} ({COLUMNS.format(first, second)}{key})")
    with ServedStream(case) as stream:
        numbers = _numbers(stream)
        rows = list(zip(SPACES, NAMES, numbers, strict=True))
        if not key:
            rows += [(SPACES[2], SHARDS[1], numbers[1]), (SPACES[2], SHARDS[1], numbers[1] + 16)]
        for row in rows:
            table.sql(f"INSERT INTO odd_{name} VALUES (%s, %s, %s)", *map(str, row))  # noqa: S608
        read = _read(table, f"odd_{name}")
        taken = _taken(library, running, stream, f"odd_{name}")
    assert taken == {shard: read.get(shard, "") for shard in SHARDS}
    table.connection.close()


def _numbers(stream: ServedStream) -> list[int]:
    """The first number of each shard, which all of its records follow."""
    return [shard.starting for shard in stream.fake.stream(stream.name).shards.values()]


def _read(table: Table, name: str) -> Mapping[str, str]:
    heads = KINESIS_CONSUMER.heads({"app": "app"}, "orders")
    shape = TableShape(name, hash="namespace", range="shard_id", heads=heads)
    rows = SqlTable(table.server, shape, "sequence_number", lambda _seconds: None).read()
    own = [row.attributes for row in rows if row.attributes["namespace"]["S"] == "app-orders"]
    return {row["shard_id"]["S"]: row["sequence_number"]["S"] for row in own}


def _taken(
    library: Library, running: tuple[str, Running], stream: ServedStream, table: str
) -> dict[str, str]:
    kind, server = running
    address = {
        "postgres": f"postgres://{USER}:{PASSWORD}@{server.target}?sslmode=disable",
        "mysql": f"{USER}:{PASSWORD}@tcp(127.0.0.1:{server.port})/{server.database}",
    }[kind]
    run, log = library.start({
        "app": "app", "store": kind, "address": address, "table": table, "stream": stream.name,
        "initial": "TRIM_HORIZON", "kinesis": stream.address,
    })  # fmt: skip
    log.wait(lambda log: len(_starts(log)) == len(SHARDS) or log.ended(), 60)
    library.stop(run)
    log.wait(lambda log: log.ended(), 30)
    return _starts(log)


def _starts(log: Any) -> dict[str, str]:
    """Shard → the number at which the library begins it."""
    marker = "start scan: "
    said = [str(event.members.get("words", "")) for event in log.of("LOG")]
    parts = [line.partition(marker)[2].split(" ") for line in said if marker in line]
    return {part[0]: part[1] for part in parts}
