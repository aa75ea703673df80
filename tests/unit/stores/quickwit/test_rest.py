"""A node's REST interface as a store: it is read, within a time, and never written."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

import pytest

from reshardctl.consumers.quickwit.document import ROW, Document
from reshardctl.errors import CannotTell, Refused
from reshardctl.model import Delete, Step, Write
from reshardctl.stores.quickwit.rest import Rest
from tests.cli.quickwit_rest_lab import Node, metadata, node

ZERO = "events/kinesis-events/shardId-000000000000"


@pytest.fixture
def asked() -> Iterator[Node]:
    with node() as ours:
        ours.answer = lambda _path: (200, {}, metadata("0.9.0", "q2"))
        yield ours


def rest(asked: Node, seconds: float = 0.0) -> Rest:
    """seconds: that pass from one look at the clock to the next."""
    ticks = itertools.count()
    codec = partial(Document, ROW)
    return Rest(
        "http", f"127.0.0.1:{asked.port}", codec, "events", "", lambda: next(ticks) * seconds
    )


@pytest.mark.parametrize(("scheme", "target", "place"), [
    ("http", "node", "http://node:7280"), ("https", "node", "https://node:443"),
    ("https", "node:8443", "https://node:8443"),
])  # fmt: skip
def test_the_port_where_none_is_said(scheme: str, target: str, place: str) -> None:
    """Quickwit's rest.listen_port is 7280 (its node configuration); HTTPS has 443."""
    store = Rest(scheme, target, partial(Document, ROW), "events", "", lambda: 0.0)
    assert store.location.startswith(place)


def test_named_rows_are_those_of_one_answer_and_none_is_written(asked: Node) -> None:
    store = rest(asked)
    rows = store.get([ZERO, "events/kinesis-events/none"])
    assert [row and row.key for row in rows.values()] == [ZERO, None] and len(asked.paths) == 1
    assert store.get([]) == {} and len(asked.paths) == 1
    write = Write(ZERO, Delete(), rows[ZERO], "a test", ("position",))
    with pytest.raises(Refused, match="no call that sets a position"):
        store.write(Step("one", (write,)), "t")


def test_an_answer_of_a_megabyte_is_read_whole(asked: Node) -> None:
    """Of an index with many sources and fields; white space is no part of JSON's values."""
    asked.answer = lambda _path: (200, {}, metadata("0.9.0", "q2") + b" " * (1 << 20))
    assert ZERO in [row.key for row in rest(asked).read()]


def test_an_answer_that_comes_in_drops_is_given_up(asked: Node) -> None:
    with pytest.raises(CannotTell, match="cannot be reached: no whole answer in 60 s"):
        rest(asked, 61.0).read()
