"""Writes that a real Redis refuses: nothing of the step is in place, and that is what is said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Step
from reshardctl.stores.redis import Server
from tests.support.needs import needs
from tests.support.servers import PASSWORD
from tests.support.servers.redisserver import redis_server
from tests.unit.stores.faults_of_stores import two_writes
from tests.unit.stores.redis.test_contract import SHAPE, Keys, Masked, _row, strings

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


@pytest.fixture
def keys(keys: Keys) -> Keys:
    """With a position."""
    keys.plant(_row("a", 0))
    return keys


@pytest.mark.parametrize("name", SETTINGS)
def test_a_server_that_takes_no_writes_now(keys: Keys, name: str) -> None:
    value, words = SETTINGS[name]
    with set_to(keys, name, value), pytest.raises(Refused, match=words):
        keys.medium().write(two_writes(_row), "t")
    assert keys.medium().read() == [_row("a", 0)]


def user_without(keys: Keys, command: str) -> str:
    """The name of a user who may do anything else."""
    keys.client.execute_command(
        "ACL", "SETUSER", f"no-{command}", "on", ">x", "~*", "+@all", f"-{command}"
    )
    return f"no-{command}"


@pytest.mark.parametrize("forbidden", ["set", "exec"])
def test_a_user_without_a_permission(keys: Keys, forbidden: str) -> None:
    user = user_without(keys, forbidden)
    with pytest.raises(Refused, match="no permissions") as caught:
        keys.medium(user).write(two_writes(_row), "t")
    assert "SET, DEL" in caught.value.next
    assert keys.medium().read() == [_row("a", 0)]


def test_a_user_who_may_not_see_times_to_live(keys: Keys) -> None:
    """A position that is put back without its end would stay for ever."""
    with pytest.raises(CannotTell, match="no permissions") as caught:
        keys.store(user=user_without(keys, "pexpiretime")).read()
    assert "PEXPIRETIME" in caught.value.next


@needs("redis")
def test_a_cluster_is_told_from_a_server() -> None:
    """A node answers CLUSTERDOWN without its slots, and CROSSSLOT for keys of two of them."""
    with redis_server("--cluster-enabled", "yes") as node:
        server = Server(f"127.0.0.1:{node.port}/0", PASSWORD)
        medium, step = Masked(strings(server), [SHAPE]), two_writes(_row)  # type: ignore[arg-type]
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
