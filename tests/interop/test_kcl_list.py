"""The checked-in list of executed situations is the list of situations."""

from __future__ import annotations

from tests.interop.kcl.situations import LISTED, listed, situations


def test_list_names_every_situation() -> None:
    """Otherwise a case could drop out of CI unseen, or come in without ever being counted."""
    ids = {situation.id for situation in situations()}
    wanted = f"python -m tests.interop.kcl.situations > {LISTED.name}"
    assert sorted(ids - listed()) == [], wanted
    assert sorted(listed() - ids) == [], wanted
