"""Connections that go at any moment, keys of other kinds, of other applications, with an end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from reshardctl.errors import Refused, UsageError
from reshardctl.model import Image, Update, Write
from reshardctl.model.images import ENDS
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.redis import READING, WRITING, Server, Strings
from tests.contracts.store_contract import create, delete, step, update
from tests.support.servers import PASSWORD, Running
from tests.support.servers.redisserver import redis_server
from tests.support.servers.severed import way_to
from tests.unit.stores.faults_of_stores import cut_everywhere
from tests.unit.stores.redis.test_contract import Keys, _row, strings


def number(image: Image | None) -> Any:
    return image and image.attributes.get("sequence_number")


def placed(key: str, text: str) -> Write:
    """A new position of app-a in s-1."""
    own = {"namespace": {"S": "app-a-s-1"}, "shard_id": {"S": key}}
    return create(Image(f"app-a-s-1/{key}", {**own, "sequence_number": {"S": text}}))


def there_and_back(store: Strings, found: Image, *guard: str) -> None:
    """A row deleted, and created again as it was."""
    gone = delete(found, "sequence_number", *guard)
    assert store.write(step(gone), "t") is WriteResult.APPLIED
    assert store.write(step(create(found)), "t") is WriteResult.APPLIED


@pytest.mark.long
@pytest.mark.parametrize("seen", [False, True], ids=["unseen", "seen"])
def test_a_connection_cut_at_any_message(keys: Keys, seen: bool) -> None:
    with way_to(keys.port) as way:
        endings = cut_everywhere(keys, way, keys.medium(port=way.port), _row, seen=seen)
    assert "done" in endings


def test_one_application_among_others(keys: Keys) -> None:
    """`a` reading `b-c` and `a-b` reading `c` have a namespace in common, but no key."""
    keys.client.set("a:checkpoint:b-c:shardId-000000000000", "1")
    keys.client.set("a-b:checkpoint:c:shardId-000000000000", "2")
    keys.client.set("a*:checkpoint:s:shardId-000000000000", "3")
    keys.client.set("unrelated", "4")
    (one,) = keys.store("a").read()
    assert (one.key, number(one)) == ("a-b-c/shardId-000000000000", {"S": "1"})
    (other,) = keys.store("a-b").read()
    assert number(other) == {"S": "2"}
    (starred,) = keys.store("a*").read()
    assert number(starred) == {"S": "3"}
    assert len(keys.store("").read()) == 3


def test_keys_that_go_meanwhile_or_are_no_text_are_passed_by(keys, monkeypatch):
    """SCAN gives keys that were there during the scan; names of streams are ASCII
    (CreateStream API reference)."""
    keys.client.set("app-a:checkpoint:s-1:a", "1")
    keys.client.set(b"app-a:checkpoint:s-\xff:a", "2")
    scanned = redis.Redis.scan_iter

    def scan_iter(*arguments: Any, **named: Any) -> Iterator[bytes]:
        yield b"app-a:checkpoint:s-1:gone"
        yield from scanned(*arguments, **named)

    monkeypatch.setattr(redis.Redis, "scan_iter", scan_iter)
    (one,) = keys.store().read()
    assert one.key == "app-a-s-1/a"


def test_a_key_of_another_type_is_seen_and_not_written(keys: Keys) -> None:
    """The library's Get drops the error: to it, there is no position."""
    keys.client.rpush("app-a:checkpoint:s-1:a", "x")
    keys.client.sadd("app-a:checkpoint:s-1:b", "x")
    found, other = keys.store().read()
    assert number(found) is None and number(other) is None
    moved = update(found, Update({"sequence_number": {"S": "1"}}), "sequence_number")
    with pytest.raises(UsageError, match="holds no string"):
        keys.store().write(step(moved), "t")
    assert keys.store().write(step(placed("a", "1")), "t") is WriteResult.CONFLICT
    assert keys.client.lrange("app-a:checkpoint:s-1:a", 0, -1) == [b"x"]


def test_a_time_to_live_stays(keys: Keys) -> None:
    keys.client.set("app-a:checkpoint:s-1:a", "1", ex=5000)
    (found,) = keys.store().read()
    moved = update(found, Update({"sequence_number": {"S": "2"}}), "sequence_number")
    assert keys.store().write(step(moved), "t") is WriteResult.APPLIED
    assert keys.client.get("app-a:checkpoint:s-1:a") == b"2"
    assert int(keys.client.ttl("app-a:checkpoint:s-1:a")) > 4000


@pytest.mark.parametrize("old", [False, True], ids=["7", "before-7"])
def test_a_time_to_live_comes_back_with_a_deleted_key(keys, monkeypatch, old):
    """To the millisecond where the server tells it (PEXPIRETIME, from 7.0 on)."""
    if old:
        without_pexpiretime(monkeypatch)
    name, end = "app-a:checkpoint:s-1:a", int(time.time() + 5000) * 1000 + 123
    keys.client.set(name, "1", pxat=end)
    keys.client.set("app-a:checkpoint:s-1:b", "1")
    found, lasting = keys.store().read()
    assert ENDS not in lasting.attributes
    assert keys.store().get([found.key])[found.key].key == found.key  # type: ignore[union-attr]
    there_and_back(keys.store(), found, ENDS)
    assert abs(int(keys.client.execute_command("PEXPIRETIME", name)) - end) <= 1000 * old
    kept = keys.store().get([lasting.key])[lasting.key]
    assert kept == lasting


def test_a_time_to_live_that_has_ended_is_not_begun_again(keys: Keys) -> None:
    keys.client.set("app-a:checkpoint:s-1:b", "1")
    (lasting,) = keys.store().read()
    attributes = {**lasting.attributes, "shard_id": {"S": "a"}, ENDS: {"N": "1000"}}
    with pytest.raises(Refused, match="has ended"):
        keys.store().write(step(create(Image("app-a-s-1/a", attributes))), "t")
    assert keys.store().read() == [lasting]


def without_pexpiretime(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server before 7.0: it does not know the command."""

    def unknown(pipe: Any, key: bytes) -> Any:
        return pipe.execute_command("PEXPIRETIME.OF.7", key)

    monkeypatch.setattr(redis.client.Pipeline, "pexpiretime", unknown)


@pytest.mark.parametrize("database", [0, 3])
def test_a_user_with_the_documented_permissions(running: Running, database: int) -> None:
    """Reads, writes, meets a row that moved, undoes; without a further command."""
    root = Server(f"127.0.0.1:{running.port}/{database}", PASSWORD).client()
    for who, commands in (("reader", READING), ("writer", READING + WRITING)):
        allowed = [f"+{name.lower()}" for name in (*commands, *["SELECT"][: database])]
        root.acl_setuser(
            who, enabled=True, passwords=["+x"], reset=True, keys=["app-a:checkpoint:*"],
            commands=allowed,
        )
    root.delete("app-a:checkpoint:s-1:a")
    root.set("app-a:checkpoint:s-1:b", "7", ex=5000)

    place = f"127.0.0.1:{running.port}/{database}"
    reader, writer = (strings(Server(f"{who}@{place}", "x")) for who in ("reader", "writer"))
    assert reader.identity()
    (row,) = reader.read()
    made = step(placed("a", "1"))
    with pytest.raises(Refused, match="no permissions") as denied:
        reader.write(made, "t")
    assert all(command in denied.value.next for command in (*READING, *WRITING))
    assert writer.write(made, "t") is WriteResult.APPLIED
    assert writer.write(made, "t") is WriteResult.CONFLICT
    there_and_back(writer, row)
    assert reader.read()[1].attributes == row.attributes
    root.acl_deluser("reader", "writer")


def test_the_permissions_are_documented() -> None:
    page = (Path(__file__).parents[4] / "docs" / "kinesis-consumer.md").read_text("utf-8")
    assert all(f"`{command}`" in page for command in (*READING, *WRITING, "SELECT"))


def test_the_identity_survives_a_restart() -> None:
    """INFO's run_id does not."""
    with redis_server() as running:
        server = Server(f"127.0.0.1:{running.port}/0", PASSWORD)
        store = strings(server)
        identity = store.identity()
        run_id = server.client().info("server")["run_id"]
        assert run_id not in str(identity)
    assert store.identity() == identity


def test_bytes_that_are_no_text_go_and_come_back(keys: Keys) -> None:
    keys.client.set("app-a:checkpoint:s-1:a", b"\xff\x00")
    (found,) = keys.store().read()
    there_and_back(keys.store(), found)
    assert keys.client.get("app-a:checkpoint:s-1:a") == b"\xff\x00"


@pytest.fixture
def replica(keys: Keys) -> Iterator[Keys]:
    """A server that takes no writes, as a replica does."""
    keys.client.execute_command("REPLICAOF", "127.0.0.1", "1")
    yield keys
    keys.client.execute_command("REPLICAOF", "NO", "ONE")


def test_a_replica_is_not_written(replica: Keys) -> None:
    with pytest.raises(Refused, match=r"replica|READONLY|read only"):
        replica.store().write(step(placed("a", "1")), "t")


@pytest.mark.parametrize("target", ["", "host:x/0", "host/db", "host/0/1", "host:123456/0"])
def test_no_address(target: str) -> None:
    with pytest.raises(UsageError):
        Server(target, "")
