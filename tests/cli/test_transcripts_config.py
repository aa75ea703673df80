"""The transcripts of docs/config.md, on the page's own reshardctl.toml and the stream it names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import Item, fake_of, opened
from tests.cli.page_reader import Reader, of
from tests.support.case import CASES, load
from tests.support.dialects import kinsumer as dialect
from tests.support.lease_server import delete_tables
from tests.whole.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "config.md"
CASE = load(CASES / "kcl" / "a-both.toml")
LOST = CASE.items()
"""Shard 0 was split into 2 and 3 at 00:10 and is at SHARD_END; the children have no lease."""


def healthy() -> list[Item]:
    """The same application with both children's leases, not read yet."""
    (parent,) = (row for row in LOST if row["leaseKey"]["S"].endswith("0"))
    return LOST + [
        {**parent, "leaseKey": {"S": f"shardId-{number:012d}"},
         "checkpoint": {"S": "TRIM_HORIZON"}, "parentShardId": {"SS": [parent["leaseKey"]["S"]]}}
        for number in (2, 3)
    ]  # fmt: skip


@pytest.fixture
def page(servers, tmp_path, monkeypatch, wire) -> Iterator[Reader]:
    fake = fake_of(CASE)
    tables = {"orders-etl": LOST, "archive": LOST, "fraud": healthy()}
    monkeypatch.chdir(tmp_path)
    (text, *_) = (block.text for block in blocks(PAGE) if block.language == "toml")
    Path("reshardctl.toml").write_text(text, encoding="utf-8")
    with ExitStack() as stack:
        labs = [
            stack.enter_context(
                opened(servers, fake, rows, tmp_path / "state", monkeypatch, wire, name)
            )
            for name, rows in tables.items()
        ]
        reader = Reader(labs[-1])
        reader.move("22:34:38")
        yield reader


def change(old: str, new: str, *, to: str) -> None:
    """Another file: the page's with one mistake or date."""
    text = Path("reshardctl.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    Path(to).write_text(text.replace(old, new), encoding="utf-8")


def test_all_consumers(page):
    inspected, code = of("config", last="Names in commands")
    page.type(inspected)
    page.type(code)


def test_a_mistake_in_the_file(page):
    change('why = "replaced by orders-etl, ticket 4711"', "", to="bad1.toml")
    (mistake,) = of("config", first="Keys", last="Which file is used")
    page.type(mistake)


def test_whether_all_can_be_reached(page):
    for transcript in of("config", first="config show", last="Which tables are there?"):
        page.type(transcript)


@pytest.fixture
def empty_account(servers):
    """`discover` counts all tables of the account."""
    delete_tables(servers.dynamodb)


def test_tables_of_a_stream(empty_account, page):  # noqa: ARG001 - before the page's own tables
    clicks = dialect.images(replace(CASE, state={"rows": [{"shard": 1, "at": "s1-1"}]}))
    with kinsumer_lab(page.lab, clicks, app="clicks"):
        for transcript in of("config", first="Which tables are", last="All consumers of an"):
            page.type(transcript)


def test_all_consumers_of_an_account(empty_account, page):  # noqa: ARG001 - as above
    for transcript in of("config", first="All consumers of an account"):
        page.type(transcript)
