"""The transcripts of docs/spark.md, on checkpoints that connectors left (tests/golden/spark)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.page_reader import Reader, of
from tests.cli.spark_lab import HEAD, spark_lab

CHECKPOINT = "/checkpoints/orders"
"""The page's `checkpointLocation`."""
At = Callable[..., Reader]


@pytest.fixture
def reader(entered, servers, tmp_path, monkeypatch, wire) -> At:
    """A reader of a recorded checkpoint, at a time."""

    def at(release: str, shape: str, time: str) -> Reader:
        lab = entered.enter_context(
            spark_lab(release, shape, servers, tmp_path, monkeypatch, wire, "")
        )
        page = Reader(lab, {CHECKPOINT: str(lab.root)})
        page.move(time)
        return page

    return at


def test_a_repair(reader: At):
    page = reader(HEAD, "s1", "26:22:09")
    look, dry = of("spark", first="Example", last="Is the query stopped?")
    page.type(look)
    page.type(dry)
