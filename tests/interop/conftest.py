"""The laboratory that all interop tests of a session share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interop.kcl import built, executed
from tests.interop.kcl.laboratory import Laboratory, Start
from tests.interop.kcl.situations import Situation


@pytest.fixture(scope="session")
def java() -> None:
    """Skip where the real library cannot run; in CI that is a failure."""
    reason = built.missing()
    if reason is not None:
        (pytest.fail if built.required() else pytest.skip)(reason)


@pytest.fixture(scope="session")
def laboratory(java: None, request: pytest.FixtureRequest) -> Iterator[Laboratory]:
    """Begins every selected situation at once; the tests then look at one outcome each."""
    executed.begin()
    laboratory = Laboratory()
    try:
        laboratory.begin((each, _start(each)) for each in _selected(request.session))
        yield laboratory
    finally:
        laboratory.close()


def _selected(session: pytest.Session) -> list[Situation]:
    calls = [getattr(item, "callspec", None) for item in session.items]
    found = [call.params.get("situation") for call in calls if call is not None]
    return [each for each in found if isinstance(each, Situation)]


def _start(situation: Situation) -> Start:
    case, fixed = situation.case, situation.expect.fixed
    by_hand = situation.repaired and fixed is not None
    items = case.with_writes(fixed.writes) if by_hand and fixed is not None else case.items()
    return Start(case, situation.release, situation.initial, items)
