"""The transcripts of docs/quickwit.md, on metastores that Quickwit wrote: tests/golden/quickwit."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from tests.cli.page_reader import Reader, of
from tests.cli.quickwit_lab import GOLDEN, QuickwitLab, planted

INDEXES = "/var/lib/quickwit/indexes"
"""The page's `metastore_uri`."""
HOURS = 72
"""The retention of the page's stream, with which the closed shard's listing ends."""
PANICS, OTHERS = "Resharded, and", "Other repairs"
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
def reader(base_of, tmp_path) -> At:
    """A reader of a recorded state of a release, at a time."""

    def at(release: str, state: str, time: str) -> Reader:
        root = planted(tmp_path / "indexes", release, state)
        lab = base_of(stream_of(state)).beside(QuickwitLab, stream="events", root=root)
        page = Reader(lab, {INDEXES: str(root)})
        page.move(time)
        return page

    return at


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
    look, dry = of("quickwit", first=PANICS, last=OTHERS)
    page.type(look)
    page.type(dry)


def test_an_end_mark(reader: At):
    page = reader("0.9.0", "q6", "25:30:17")
    (look,) = of("quickwit", first=OTHERS, last="Limits")
    page.type(look)
