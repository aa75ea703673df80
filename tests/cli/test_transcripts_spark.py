"""The transcripts of docs/spark.md, on checkpoints that connectors left (tests/golden/spark)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.cli.lab import opened
from tests.cli.page_reader import Reader, of, written
from tests.cli.spark_lab import HEAD, SparkLab, golden_fake, planted

CHECKPOINT = "/checkpoints/orders"
"""The page's `checkpointLocation`."""
At = Callable[..., Reader]


@pytest.fixture
def reader(servers, tmp_path, monkeypatch, wire) -> Iterator[At]:
    """A reader of a recorded checkpoint, at a time. gone: shards that are no longer listed."""
    with ExitStack() as stack:

        def at(folder: str, shape: str, time: str, gone: tuple[int, ...] = ()) -> Reader:
            fake = golden_fake(folder, shape)
            for shard in gone:
                fake.trim_shard("st", shard)
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
    look, dry, fix, again = of("spark", first="A repair", last="What is asked")
    page.type(look)
    page.type(dry)
    page.type(fix, form="concise")
    page.type(again)
    (undo,) = of("spark", first="Undo")
    journal = str(page.lab.journal())
    page.type(replace(undo, command=undo.command.replace(written(undo), journal)))


def test_what_is_asked(reader: At):
    page = reader(HEAD, "u1", "26:22:40")
    (asked,) = of("spark", first="What is asked", last="Checkpoints of")
    page.type(asked)


def test_a_checkpoint_of_our_own_source(reader: At):
    page = reader("kinesis-lineage-4.0.5", "s1", "30:53:25", gone=(0,))
    for transcript in of("spark", first="Checkpoints of", last="Is it stopped?"):
        page.type(transcript)
