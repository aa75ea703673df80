"""A Redis of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.servers import (
    PASSWORD,
    Running,
    folder_of,
    free_port,
    owner,
    programs_of,
    served,
)

_BUS = 10_000
"""How far above its port a cluster's node listens to other nodes, unless told (redis.conf)."""


@contextmanager
def redis_server(*options: str) -> Iterator[Running]:
    """It asks for the password, of no user. options: further words of its command."""
    import redis

    (server,) = programs_of("redis")
    user, port = owner("redis"), free_port(_BUS if "--cluster-enabled" in options else 0)
    with folder_of(user) as folder:
        def answers() -> bool:
            try:
                return bool(redis.Redis(port=port, password=PASSWORD).ping())
            except redis.ConnectionError:
                return False

        command = [
            server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--requirepass", PASSWORD, "--dir", str(folder), *options,
        ]
        with served(command, user, folder, answers):
            yield Running(port, "0", folder)
