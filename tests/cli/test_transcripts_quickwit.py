"""The transcripts of docs/quickwit.md, on metastores that Quickwit wrote: tests/golden/quickwit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from tests.cli.lab import opened
from tests.cli.page_reader import Reader, of, written
from tests.cli.quickwit_lab import GOLDEN, QuickwitLab, planted
from tests.cli.quickwit_postgres_lab import PostgresLab, restored
from tests.support.needs import needs
from tests.support.servers import PASSWORD, USER
from tests.support.servers.postgresql import postgresql

INDEXES = "/var/lib/quickwit/indexes"
"""The page's `metastore_uri`."""
HOURS = 72
"""The retention of the page's stream, with which the closed shard's listing ends."""
PANICS, MENDED = "Resharded, and", "What 0.9 needs mended"
At = Callable[[str, str, str], Reader]


def stream_of(state: str) -> FakeKinesis:
    """The stream of a recorded state, with the page's retention."""
    scenario = json.loads((GOLDEN / "0.9.0" / state / "scenario.json").read_text())
    return load_topology([
        {"account": "123456789012", "region": "us-east-1", "now": 12_000, **stream,
         "retention_hours": HOURS}
        for stream in scenario["streams"]
    ])  # fmt: skip


@pytest.fixture
def reader(servers, tmp_path, monkeypatch, wire) -> Iterator[At]:
    """A reader of a recorded state of a release, at a time."""
    with ExitStack() as stack:

        def at(release: str, state: str, time: str) -> Reader:
            fake = stream_of(state)
            lab = stack.enter_context(
                opened(servers, fake, [], tmp_path / "state", monkeypatch, wire)
            )
            root = planted(tmp_path / "indexes", release, state)
            page = Reader(
                QuickwitLab(lab.servers, fake, lab.table, lab.state, lab.wire, "events", root=root),
                {INDEXES: str(root)},
            )
            page.move(time)
            return page

        yield at


def drained(page: Reader) -> None:
    """Shard 0 stands at its last record, and the children have no position."""
    lab = page.lab
    assert isinstance(lab, QuickwitLab)
    stored = json.loads((GOLDEN / "0.9.0/q3/metastore/events/metastore.json").read_text())
    last = stored["index"]["checkpoint"]["kinesis-events"]["shardId-000000000000"].removeprefix("~")
    before = lab.positions()["shardId-000000000000"]
    lab.file().write_text(lab.text().replace(before, last), encoding="utf-8")


def test_a_release_that_dies_after_a_reshard(reader: At):
    page = reader("0.8.2", "q2", "25:29:53")
    drained(page)
    look, dry, fix, again, shown, undo, _unread = of("quickwit", first=PANICS, last=MENDED)
    page.type(look)
    page.type(dry)
    page.type(fix, form="concise")
    page.type(again)
    page.type(shown)
    journal = str(page.lab.journal())
    page.type(replace(undo, command=undo.command.replace(written(undo), journal)), form="concise")


def test_a_release_has_to_be_known(reader: At):
    page = reader("0.8.2", "q2", "25:29:53")
    *_, unread = of("quickwit", first=PANICS, last=MENDED)
    page.type(unread, form="concise")


def test_an_end_mark(reader: At):
    page = reader("0.9.0", "q6", "25:30:17")
    for transcript in of("quickwit", first=MENDED, last="Stop every node"):
        page.type(transcript)


def test_files_do_not_show_a_running_node(reader: At):
    page = reader("0.9.0", "q6", "25:30:17")
    (refused,) = of("quickwit", first="Stop every node", last="PostgreSQL")
    page.type(refused, form="concise")


def test_a_node_takes_no_position(reader: At):
    page = reader("0.9.0", "q3", "25:30:17")
    (refused,) = of("quickwit", first="REST")
    page.type(refused, form="concise")


@pytest.fixture
@needs("postgres")
def database(servers, tmp_path, monkeypatch, wire) -> Iterator[Reader]:
    """A reader of a recorded database that holds an end mark."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    with (
        postgresql() as server, restored(server, "0.9.0", "q3") as name,
        opened(servers, stream_of("q3"), [], tmp_path / "state", monkeypatch, wire) as lab,
    ):  # fmt: skip
        there = f"127.0.0.1:{server.port}/{name}"
        page = Reader(
            PostgresLab(
                lab.servers, lab.fake, lab.table, lab.state, lab.wire, "events", "",
                lab.on_sleep, lab.slept, server, name,
            ),
            {"quickwit@localhost/metastore": f"{USER}@{there}", "localhost:5432/metastore": there},
        )  # fmt: skip
        page.move("26:12:35")
        yield page


def test_positions_in_postgresql(database: Reader):
    lab = database.lab
    assert isinstance(lab, PostgresLab)
    look, refused, fix, _psql, undo, newer = of("quickwit", first="PostgreSQL", last="REST")
    database.type(look)
    database.type(refused, form="concise")
    lab.disable()
    database.type(fix, form="concise")
    journal = str(lab.journal())
    database.type(
        replace(undo, command=undo.command.replace(written(undo), journal)), form="concise"
    )
    lab.sql("UPDATE _sqlx_migrations SET version = 31 WHERE version = 29")
    database.type(newer)
