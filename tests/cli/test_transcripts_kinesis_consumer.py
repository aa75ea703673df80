"""The transcripts of docs/kinesis-consumer.md on DynamoDB, on cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reshardctl.model import Image
from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.lab import fake_of
from tests.cli.page_reader import Reader, of
from tests.support.case import CASES, load
from tests.support.dialects import kinesis_consumer as dialect

PAGE = "kinesis-consumer"
APP = "app-orders/"


@pytest.fixture
def reader(base_of, entered, tmp_path, monkeypatch) -> Callable[[str, str], Reader]:
    """A reader of a case, whose application is called etl, at a time."""

    def at(name: str, time: str) -> Reader:
        case = load(CASES / "kinesis-consumer" / f"{name}.toml")
        lab = base_of(fake_of(case))
        monkeypatch.chdir(tmp_path)
        images = [of_etl(row) for row in dialect.images(case) if row.key.startswith(APP)]
        page = Reader(entered.enter_context(positions_lab(lab, images, name="checkpoints")))
        page.move(time)
        return page

    return at


def of_etl(image: Image) -> Image:
    """The row, of another application than that of the cases."""
    space, _, shard = image.key.partition("/")
    named = space.replace("app-", "etl-")
    return Image(f"{named}/{shard}", {**image.attributes, "namespace": {"S": named}})


def test_at_latest_after_a_reshard(reader):
    page = reader("a", "01:10:00")
    look, one, fix, two = of(PAGE, first="At LATEST, after", last="On master")
    for transcript in (look, one, fix, two):
        page.type(transcript)
