"""Damaged positions in every medium: files, buckets, tables, servers, a REST interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from random import Random

import pytest

from tests.cli.damaged import (
    media_buckets,
    media_files,
    media_quickwit,
    media_rows,
    media_servers,
)
from tests.cli.damaged.judging import Damaged, judge, positions
from tests.cli.damaged.medium import Setting, seeded
from tests.support.servers import Running
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql
from tests.support.servers.redisserver import redis_server

# Pipes and loops: whoever waits for one hangs.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MEDIA = [
    *media_rows.MEDIA, *media_files.MEDIA, *media_buckets.MEDIA, *media_servers.MEDIA,
    *media_quickwit.MEDIA,
]  # fmt: skip
SERVERS = {"redis": redis_server, "postgres": postgresql, "mysql": mariadb}


@pytest.fixture(scope="module")
def running() -> Iterator[Callable[[str], Running]]:
    with ExitStack() as stack:
        yield cache(lambda kind: stack.enter_context(SERVERS[kind]()))


@pytest.mark.parametrize(("medium", "seeds"), seeded(MEDIA))
def test_a_damaged_position(servers, running, tmp_path, monkeypatch, medium, seeds):
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        with medium.store(Setting(servers, folder, monkeypatch, running)) as store:
            stood = positions(store.lab)
            named, how = store.damage(Random(f"{medium.name} {seed}"))
            judge(Damaged(
                store.lab, f"seed {seed}: {how}", store.stored, store.kept, named, stood
            ))  # fmt: skip
