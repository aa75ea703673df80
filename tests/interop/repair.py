"""The one place where the interop tier calls the tool's own fix."""

from __future__ import annotations

from collections.abc import Callable

from tests.interop.kcl.situations import Situation
from tests.interop.kcl.stream import ServedStream

CONNECTED = False
"""Until it is, a case's expected writes are applied by hand: that judges the case, not the tool."""


def mend(situation: Situation) -> Callable[[str, ServedStream], None]:
    """What mends a lease table, given its name and its stream, before the library is started."""
    raise NotImplementedError("the tool's fix is not connected to the interop tier")
