"""The transcripts of docs/spark.md, on checkpoints that connectors left (tests/golden/spark)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.cli.lab import opened
from tests.cli.page_reader import Reader, of
from tests.cli.spark_lab import HEAD, SparkLab, golden_fake, planted

CHECKPOINT = "/checkpoints/orders"
"""The page's `checkpointLocation`."""
At = Callable[..., Reader]


@pytest.fixture
def reader(servers, tmp_path, monkeypatch, wire) -> Iterator[At]:
    """A reader of a recorded checkpoint, at a time."""
    with ExitStack() as stack:

        def at(folder: str, shape: str, time: str) -> Reader:
            fake = golden_fake(folder, shape)
            lab = stack.enter_context(
                opened(servers, fake, [], tmp_path / "state", monkeypatch, wire)
            )
            root = planted(tmp_path / "checkpoint", folder, shape)
            page = Reader(
                SparkLab(
                    lab.servers, fake, lab.table, lab.state, lab.wire, "st", "",
                    lab.on_sleep, lab.slept, root=root,
                ),
                {CHECKPOINT: str(root)},
            )
            page.move(time)
            return page

        yield at


def test_a_repair(reader: At):
    page = reader(HEAD, "s1", "26:22:09")
    look, dry = of("spark", first="Example", last="Is the query stopped?")
    page.type(look)
    page.type(dry)
