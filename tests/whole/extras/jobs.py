"""What each extra is for, done once with it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from reshardctl.demo import servers
from reshardctl.model import shard_id
from tests.support.position_tables import create_table
from tests.support.servers import PASSWORD, USER, Running
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql
from tests.support.servers.redisserver import redis_server
from tests.whole.extras.scene import LIMIT, Installed, Record, records

STREAM = ("--stream", servers.STREAM)
LEASES = f"kcl://{servers.TABLE}"
READ = (shard_id(0), shard_id(1))
"""Shards that the application of a position store has read to their ends, and no other."""
Planter = Callable[[Running, Mapping[str, str]], str]
"""Writes positions, by shard, to a server, and gives the store's locator."""


def demo(tool: Installed) -> None:
    """The demo, which judges itself."""
    subprocess.run([tool.python.with_name("reshardctl"), "demo"], cwd=tool.folder,
                   stdin=subprocess.DEVNULL, timeout=LIMIT, check=True)  # fmt: skip


def redis(tool: Installed) -> None:
    """A store in Redis, repaired."""
    import redis

    def plant(server: Running, positions: Mapping[str, str]) -> str:
        with redis.Redis(port=server.port, password=PASSWORD) as client:
            for shard, number in positions.items():
                client.set(f"app:checkpoint:{servers.STREAM}:{shard}", number)
        return f"kinesis-consumer+redis://127.0.0.1:{server.port}/0?app=app"

    _repaired(tool, redis_server(), plant, "REDISCLI_AUTH")


def postgres(tool: Installed) -> None:
    """A store in PostgreSQL, repaired."""
    import psycopg

    def connect(server: Running) -> Any:
        return psycopg.connect(
            host="127.0.0.1", port=server.port, user=USER, password=PASSWORD,
            dbname=server.database,
        )

    _repaired(tool, postgresql(), _planter("postgres", connect), "PGPASSWORD")


def mysql(tool: Installed) -> None:
    """A store in MariaDB, repaired."""
    import pymysql

    def connect(server: Running) -> Any:
        return pymysql.connect(
            host="127.0.0.1", port=server.port, user=USER, password=PASSWORD,
            database=server.database,
        )

    _repaired(tool, mariadb(), _planter("mysql", connect), "MYSQL_PWD")


def spark(tool: Installed) -> None:
    """A sink that lacks one record is counted against the stream, and a lease table rebuilt."""
    whole = records(tool.endpoints)
    lost, *rest = whole
    sink = str(_sink(tool.folder / "sink", rest))
    found = tool.run(1, "audit", sink, *STREAM, "--form", "json")
    missing = sum(int((each["compared"] or {}).get("missing") or 0) for each in found["shards"])
    assert missing == 1, (lost, json.dumps(found["shards"])[:2000])
    full = str(_sink(tool.folder / "full", whole))
    plan = tool.run(
        1, "rebuild", f"{LEASES}?initial=TRIM_HORIZON&release=3.5.1", *STREAM, "--from", full,
        "--form", "json", "--dry-run",
    )
    assert plan["decision"]["kind"] == "plan", plan["decision"]


JOBS: dict[str, Callable[[Installed], None]] = {
    "demo": demo, "redis": redis, "postgres": postgres, "mysql": mysql, "spark": spark,
}


def _repaired(
    tool: Installed, starting: AbstractContextManager[Running],
    plant: Planter, secret: str,
) -> None:
    """Two shards are read and their children are unknown: found, repaired, and found no more."""
    positions = {shard: number for shard, number in records(tool.endpoints) if shard in READ}
    assert set(positions) == set(READ)
    with starting as server:
        where = (plant(server, positions) + "&initial=LATEST&release=0.5", *STREAM)
        password = {secret: PASSWORD}
        found = tool.run(1, "inspect", *where, **password)
        assert found["findings"], found
        tool.run(0, "fix", *where, "--assume-stopped", "--yes", "--accept",
                 "reread=all,disorder", **password)  # fmt: skip
        tool.run(0, "inspect", *where, **password)


def _planter(kind: str, connect: Callable[[Running], Any]) -> Planter:
    """Puts positions into a table of its own; its locator."""

    def plant(server: Running, positions: Mapping[str, str]) -> str:
        with connect(server) as connection:
            cursor = connection.cursor()
            cursor.execute(create_table(kind, "positions"))
            for shard, number in positions.items():
                row = [f"app-{servers.STREAM}", shard, number]
                cursor.execute("INSERT INTO positions VALUES (%s, %s, %s)", row)
            connection.commit()
        return f"kinesis-consumer+{kind}://{USER}@{server.target}?app=app&table=positions"

    return plant


def _sink(folder: Path, rows: Sequence[Record]) -> Path:
    folder.mkdir()
    lines = [json.dumps({"shard_id": shard, "sequence_number": n}) for shard, n in rows]
    (folder / "part-00000.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
