"""The transcripts of docs/kinsumer.md, on recorded stores and cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import fake_of
from tests.cli.page_reader import Reader, of
from tests.support.case import CASES, load
from tests.support.dialects import kinsumer as dialect
from tests.support.golden_kinsumer import STORES, images_of
from tests.support.golden_kinsumer import fake_of as golden_fake

APP = "orders-reader"


@pytest.fixture
def reader(base_of, entered, tmp_path, monkeypatch) -> Callable[[str, str], Reader]:
    """A reader of a case, or of a store that Snowplow's fork has written, at a time."""

    def at(name: str, time: str) -> Reader:
        recorded = [store for store in STORES if store.name == name and "snow" in str(store)]
        fake: Any
        if recorded:
            fake, images = golden_fake(recorded[0]), images_of(recorded[0])
        else:
            case = load(CASES / "kinsumer" / f"{name}.toml")
            fake, images = fake_of(case), dialect.images(case)
        monkeypatch.chdir(tmp_path)
        page = Reader(entered.enter_context(kinsumer_lab(base_of(fake), images, app=APP)))
        page.move(time)
        return page

    return at


def test_a_start_by_time(reader):
    page = reader("g3-split-parent-finished", "05:54:22")
    look, one, fix, two = of("kinsumer", first="The start mode decides", last="The ShardCache")
    for transcript in (look, one, fix, two):
        page.type(transcript)


def test_the_shard_cache(reader):
    page = reader("e", "02:00:00")
    dry, code = of("kinsumer", first="The ShardCache", last="A new application")
    for transcript in (dry, code):
        page.type(transcript)
