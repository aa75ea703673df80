"""What every format for people calls a command that failed."""

from __future__ import annotations

from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit

_KINDS = {Exit.REFUSED: "refused", Exit.HALF_DONE: "half done"}


def kind_of(failure: ReshardError) -> str:
    """`refused`, `half done` or `error`."""
    return _KINDS.get(failure.exit, "error")


def journal_of(failure: ReshardError) -> str:
    """The journal that continues or undoes a half-done command; "" if there is none."""
    return failure.journal if isinstance(failure, HalfDone) else ""
