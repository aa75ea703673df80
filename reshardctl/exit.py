"""The exit codes, one meaning each; any other non-zero status is a failure too."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the process tells its caller. When several apply: 5 > 3 > 4 > 2 > 6 > 1."""

    OK = 0
    """Judged fully, nothing at or above `--fail-on`; or applied and verified; or nothing to do."""
    FINDINGS = 1
    """`inspect`: findings. `fix`: something to do, or residuals left."""
    USAGE = 2
    """Bad flag, bad locator, no such table, a stream that the positions do not belong to."""
    UNKNOWN = 3
    """Could not look properly. Never reported as clean."""
    REFUSED = 4
    """A safety gate said no. Nothing was written."""
    HALF_DONE = 5
    """Some writes were made, then something failed; the message names the journal."""
    NOTHING_FOUND = 6
    """All was read, and there is nothing to judge: an empty store, or no table of the stream."""
    CANCELLED = 130
    """Interrupted before the first write."""

    @property
    def kind(self) -> str:
        """How a failure with this code begins: `refused`, `half done`, `empty` or `error`."""
        return _KINDS.get(self, "error")


_KINDS = {Exit.REFUSED: "refused", Exit.HALF_DONE: "half done", Exit.NOTHING_FOUND: "empty"}


_PRECEDENCE = (
    Exit.HALF_DONE, Exit.UNKNOWN, Exit.REFUSED, Exit.USAGE, Exit.NOTHING_FOUND, Exit.FINDINGS,
    Exit.OK,
)


def worst(*codes: Exit) -> Exit:
    """The code that wins when several consumers were judged."""
    return next((code for code in _PRECEDENCE if code in codes), Exit.OK)
