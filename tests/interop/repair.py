"""The one place where the interop tier calls the tool's own fix."""

from __future__ import annotations

from typing import Any

from tests.case import Case


def repair(case: Case, *, table: str, policy: str, release: str, initial: str, **where: Any) -> None:
    """Mend this lease table with the tool under test; ``where`` holds the two addresses.

    Not connected yet: until it is, the tier applies a case's expected writes by hand, which judges
    the case files by the real library and not the tool.
    """
    raise NotImplementedError("the tool's fix is not connected to the interop tier")
