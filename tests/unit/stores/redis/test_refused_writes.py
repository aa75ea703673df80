"""Writes that a real Redis refuses: nothing of the step is in place, and that is what is said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Step
from reshardctl.stores.redis import Server, Strings
from tests.support.needs import needs
from tests.support.servers import PASSWORD, Running
from tests.support.servers.redisserver import redis_server
from tests.unit.stores.faults_of_stores import two_writes
from tests.unit.stores.redis.test_contract import SHAPE, Keys, Masked, _row, running

__all__ = ["running"]
SETTINGS = {
    "maxmemory": ("1", "maxmemory"), "min-replicas-to-write": ("1", "NOREPLICAS"),
}  # fmt: skip


@contextmanager
def set_to(keys: Keys, name: str, value: str) -> Iterator[None]:
    keys.client.config_set(name, value)
    try:
        yield
    finally:
        keys.client.config_set(name, "0")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_server_that_takes_no_writes_now(running: Running, name: str) -> None:
    keys = Keys(running)
    keys.plant(_row("a", 0))
    value, words = SETTINGS[name]
    with set_to(keys, name, value), pytest.raises(Refused, match=words):
        keys.medium().write(two_writes(_row), "t")
    assert keys.medium().read() == [_row("a", 0)]


@pytest.mark.parametrize("forbidden", ["set", "exec"])
def test_a_user_without_a_permission(running: Running, forbidden: str) -> None:
    keys = Keys(running)
    keys.plant(_row("a", 0))
    keys.client.execute_command(
        "ACL", "SETUSER", "reader", "on", ">x", "~*", "+@all", f"-{forbidden}"
    )
    database = keys.client.connection_pool.connection_kwargs["db"]
    server = Server(f"reader@127.0.0.1:{running.port}/{database}", "x")
    inner: Any = Strings(server, SHAPE, "sequence_number", "app-a", lambda _seconds: None)
    with pytest.raises(Refused, match="no permissions") as caught:
        Masked(inner, [SHAPE]).write(two_writes(_row), "t")
    assert "SET, DEL" in caught.value.next
    assert keys.medium().read() == [_row("a", 0)]


def test_a_user_who_may_not_see_times_to_live(running: Running) -> None:
    """A position that is put back without its end would stay for ever."""
    keys = Keys(running)
    keys.plant(_row("a", 0))
    keys.client.execute_command(
        "ACL", "SETUSER", "timeless", "on", ">x", "~*", "+@all", "-pexpiretime"
    )
    database = keys.client.connection_pool.connection_kwargs["db"]
    server = Server(f"timeless@127.0.0.1:{running.port}/{database}", "x")
    with pytest.raises(CannotTell, match="no permissions") as caught:
        Strings(server, SHAPE, "sequence_number", "app-a", lambda _seconds: None).read()
    assert "PEXPIRETIME" in caught.value.next


@needs("redis")
def test_a_cluster_is_told_from_a_server() -> None:
    """A node answers CLUSTERDOWN without its slots, and CROSSSLOT for keys of two of them."""
    with redis_server("--cluster-enabled", "yes") as node:
        server = Server(f"127.0.0.1:{node.port}/0", PASSWORD)
        inner: Any = Strings(server, SHAPE, "sequence_number", "app-a", lambda _seconds: None)
        medium, step = Masked(inner, [SHAPE]), two_writes(_row)
        with pytest.raises(CannotTell, match="Hash slot not served") as caught:
            medium.write(Step("one", step.writes[1:]), "t")
        assert type(caught.value) is CannotTell, "nothing was sent that may still arrive"
        with server.client() as client:
            client.execute_command("CLUSTER ADDSLOTSRANGE 0 16383")
            while client.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
                time.sleep(0.05)
            client.set("app-a:checkpoint:s:a", "1")
        with pytest.raises(UsageError, match="Redis Cluster"):
            medium.write(step, "t")
        with pytest.raises(UsageError, match="Redis Cluster"):
            medium.read()  # of one key, which may be a node's part of many
