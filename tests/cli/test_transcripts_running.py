"""Transcripts of pages whose application runs, and of one that is read at a terminal.

The worker is played here: it renews a lease while the command waits. What the real KCL did on these
rows is in tests/proof/libraries/test_kcl_live.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.lab import Lab
from tests.cli.page_reader import Reader, of

ROOT = "shardId-000000000001"


@pytest.fixture
def reader(
    lab_of: Callable[..., Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Reader]:
    """A reader of a case, at a time of the transcripts' day, beside a worker that holds a lease."""

    def at(case: str, time: str, name: str = "orders-app") -> Reader:
        page = Reader(lab_of(case, name=name))
        page.move(time)
        page.lab.on_sleep.append(lambda _seconds: renew(page.lab, ROOT))
        monkeypatch.chdir(tmp_path)
        return page

    return at


def renew(lab: Lab, key: str, owner: str = "w1") -> None:
    counter = int(lab.items()[key]["leaseCounter"]["N"])
    lab.alter(key, leaseCounter={"N": str(counter + 1)}, leaseOwner={"S": owner})


def read_on(lab: Lab, key: str) -> None:
    """Its worker renews the lease, and checkpoints at the shard's last record."""
    last = lab.fake.stream("orders").shards[int(key[8:])].records[-1].number
    renew(lab, key)
    lab.alter(key, checkpoint={"S": str(last)})


def test_new_leases_while_a_worker_runs(reader):
    page = reader("a-both", "21:54:29")
    for transcript in of("live", first="Example"):
        page.type(transcript)


def test_a_worker_that_does_not_get_on(reader):
    page = reader("healthy-roots", "21:46:06", name="app")
    page.lab.on_sleep[:] = [
        lambda _seconds: read_on(page.lab, "shardId-000000000000"),
        lambda _seconds: renew(page.lab, ROOT, "worker-b"),
    ]
    for transcript in of("watching", last="Metrics"):
        page.type(transcript)


def test_status_at_a_terminal(reader, monkeypatch):
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    page = reader("a-both", "00:25:00")
    page.lab.terminal = True
    (shown,) = of("status", last="Options of status")
    page.type(shown)
