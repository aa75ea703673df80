"""The laboratory that all KCL tests of a session share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.interop.kcl import built, executed

if TYPE_CHECKING:
    from tests.interop.kcl.laboratory import Laboratory, Start


@pytest.fixture(scope="session")
def java() -> bool:
    """Skip where the real library cannot run; in CI that is a failure."""
    reason = built.missing()
    if reason is not None:
        (pytest.fail if built.required() else pytest.skip)(reason)
    return True


@pytest.fixture(scope="session")
def laboratory(java: bool, request: pytest.FixtureRequest) -> Iterator[Laboratory]:
    """Begins every selected run at once; each test then looks at the outcome of its own."""
    from tests.interop.kcl.laboratory import Laboratory

    assert java
    executed.begin()
    laboratory = Laboratory()
    try:
        laboratory.begin(_selected(request.session))
        yield laboratory
    finally:
        laboratory.close()


def _selected(session: pytest.Session) -> dict[str, Start]:
    """The starts by id: of every selected test that has a ``planned`` parameter."""
    calls = [getattr(item, "callspec", None) for item in session.items]
    found = [call.params["planned"] for call in calls if call and "planned" in call.params]
    return {planned.id: planned.start() for planned in found}
