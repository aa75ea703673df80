"""`python -O`: Python leaves out `assert`, on which the proof of a plan rests in places."""

from __future__ import annotations

import sys

from reshardctl.errors import Refused


def refuse_optimized(dry_run: bool) -> None:
    """Refused where something might be written by an interpreter that leaves assertions out."""
    if sys.flags.optimize and not dry_run:
        raise Refused(
            "Python runs with -O or PYTHONOPTIMIZE, which leaves checks of the plan out; nothing "
            "was written",
            "run it without them",
        )
