"""Refuses `python -O`, which drops the assertions that parts of a plan's proof rely on."""

from __future__ import annotations

import sys

from reshardctl.errors import Refused


def refuse_optimized(dry_run: bool) -> None:
    """Refused if something might be written without assertions."""
    if sys.flags.optimize and not dry_run:
        raise Refused(
            "Python runs with -O or PYTHONOPTIMIZE, which leaves checks of the plan out; nothing "
            "was written",
            "run it without them",
        )
