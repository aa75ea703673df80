"""What is skipped at collection, what fails instead, and which situations a test is not for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import servers
from tests.support.covering import chosen, in_turn
from tests.support.grouped import by_case
from tests.support.needs import MISSING, decide, fail_if_missing, missing, needs


class Item:
    """A collected test with marks and one fixture, as `decide` asks for them."""

    def __init__(self, *marks: pytest.MarkDecorator, fixture: Any = None, **params: Any) -> None:
        self.marks = [each.mark for each in marks]
        self.stash = pytest.Stash()
        self.callspec = SimpleNamespace(params=params)
        fixtures = {} if fixture is None else {"store": [SimpleNamespace(func=fixture)]}
        self._fixtureinfo = SimpleNamespace(name2fixturedefs=fixtures)

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [mark for mark in self.marks if mark.name == name]

    def add_marker(self, marker: pytest.MarkDecorator) -> None:
        self.marks.append(marker.mark)

    def reasons(self) -> list[str]:
        decide([self])  # type: ignore[list-item]
        return [mark.kwargs["reason"] for mark in self.iter_markers("skip")]


@needs("redis")
def store() -> None:
    """A fixture's function."""


@pytest.fixture
def no_redis(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(servers, "_path_of", lambda _name: None)
    monkeypatch.delenv("CI", raising=False)
    missing.cache_clear()
    yield
    missing.cache_clear()


@pytest.mark.parametrize(
    "item", [Item(pytest.mark.needs("redis")), Item(fixture=store)], ids=["mark", "fixture"]
)
@pytest.mark.usefixtures("no_redis")
def test_a_test_that_needs_what_is_missing_is_skipped(item: Item):
    (reason,) = item.reasons()
    assert reason == "redis-server is not installed (Debian: apt-get install redis-server)"
    assert MISSING not in item.stash


@pytest.mark.usefixtures("no_redis")
def test_in_ci_it_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CI", "true")
    item: Any = Item(fixture=store)
    assert item.reasons() == []
    with pytest.raises(pytest.fail.Exception, match="redis-server is not installed"):
        fail_if_missing(item)


def test_a_need_that_nobody_knows_is_an_error():
    with pytest.raises(KeyError):
        Item(pytest.mark.needs("rediss")).reasons()


@pytest.mark.parametrize(("running", "reasons"), [("redis", ["no tables"]), ("mysql", [])])
def test_parameters_that_a_test_is_not_for(running: str, reasons: list[str]):
    only = pytest.mark.only(lambda running: running != "redis", "no tables")
    assert Item(only, running=running).reasons() == reasons


def test_situations_that_a_test_is_not_for():
    @by_case([("a", "a1", (1,)), ("a", "a2", (2,)), ("b", "b1", (1,))])
    @pytest.mark.only(lambda number: number == 2, "not two")
    def judge(number: int) -> None:
        """Not called here."""

    (mark,) = judge.pytestmark
    first, second = mark.args[1]
    assert (first.id, first.values, first.marks) == ("a", ([("a2", (2,))],), ())
    assert (second.id, second.values) == ("b", ([],))
    assert [each.kwargs for each in second.marks] == [{"reason": "not two"}]


def test_all_cases_but_a_few_are_one_test_that_is_long():
    @by_case([("a", "", (1,)), ("b", "b1", (2,)), ("c", "", (3,))], few=["a"])
    def judge(number: int) -> None:
        """Not called here."""

    (mark,) = judge.pytestmark
    first, others = mark.args[1]
    assert (first.id, first.values, first.marks) == ("a", ([("", (1,))],), ())
    assert (others.id, others.values) == ("others", ([("b b1", (2,)), ("c", (3,))],))
    assert [each.name for each in others.marks] == ["long"]


def test_a_selection_has_every_kind_and_every_value():
    kinds = {"a": {"x"}, "b": {"x", "y"}, "c": {"z"}, "d": {"y"}}
    assert chosen({name: frozenset(found) for name, found in kinds.items()}) == ("b", "c")
    met = [one.values for one in in_turn("abc", [1, 2], every=2) if not one.marks]
    assert met == [("a", 1), ("b", 2), ("c", 1)]
