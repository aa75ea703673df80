"""How long a listing serves."""

from __future__ import annotations

import pytest

from reshardctl.errors import CannotTell, StreamUnsettled
from reshardctl.lineage import Lineage
from reshardctl.spark.source.latest import LISTED_FOR, LONGEST, SHARE, UNSETTLED_FOR, Afresh, View
from tests.support.lineages import split_in_turn


class Lists:
    """Lists in so many seconds, or not at all."""

    def __init__(self) -> None:
        self.now, self.takes, self.listed, self.settles = 1000.0, 0.0, 0, True
        self.denied = False

    def lineage(self, stream: str, *, rereads: int = 5) -> Lineage:
        assert (stream, rereads) == ("orders", 5)
        self.now += self.takes
        if not self.settles:
            raise StreamUnsettled("it tears")
        if self.denied:
            raise CannotTell("it is throttled")
        self.listed += 1
        return split_in_turn(1, [])

    def view(self) -> View:
        return View(self, "orders", lambda: self.now)


def test_a_listing_is_kept_for_a_while():
    lists = Lists()
    view = lists.view()
    for _ in range(100):
        view.lineage()
        lists.now += LISTED_FOR / 10
    assert lists.listed == 10


def test_a_slow_listing_is_kept_for_longer():
    lists = Lists()
    lists.takes = 3
    view = lists.view()
    view.lineage()
    lists.now += SHARE * 3 - 1
    assert not view.old
    lists.now += 1
    assert view.old
    lists.takes = 30
    view.lineage()
    lists.now += LONGEST
    assert view.old


def test_what_was_met_and_is_not_listed_lists_anew():
    lists = Lists()
    view = lists.view()
    view.lineage()
    view.drop()
    view.lineage()
    assert lists.listed == 2
    assert not view.old


def test_a_stream_that_does_not_settle_is_read_by_its_last_listing_for_a_while():
    lists = Lists()
    view = lists.view()
    lists.settles = False
    with pytest.raises(StreamUnsettled):
        view.lineage()
    lists.settles = True
    known = view.lineage()
    lists.settles = False
    lists.now += UNSETTLED_FOR
    assert view.lineage() is known
    lists.now += 1
    with pytest.raises(StreamUnsettled):
        view.lineage()


def test_a_stream_that_cannot_be_listed_is_read_by_its_last_listing_for_a_while(caplog):
    lists = Lists()
    view = lists.view()
    known = view.lineage()
    lists.denied = True
    lists.now += UNSETTLED_FOR
    assert view.lineage() is known
    assert "it is throttled: continuing with the previous listing" in caplog.text
    lists.now += 1
    with pytest.raises(CannotTell):
        view.lineage()


def test_a_clock_that_is_set_back_lists_anew():
    lists = Lists()
    view = lists.view()
    view.lineage()
    lists.now -= 3600
    assert view.old


def test_after_a_failure_another_client_lists():
    made: list[Lists] = []

    def connect() -> Lists:
        made.append(Lists())
        return made[-1]

    lists = Afresh(connect)
    for _ in range(3):
        lists.lineage("orders")
    assert len(made) == 1
    made[0].denied = True
    with pytest.raises(CannotTell):
        lists.lineage("orders")
    lists.lineage("orders")
    assert [one.listed for one in made] == [3, 1]
