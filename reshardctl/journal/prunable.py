"""Which journals are no longer needed: nothing is left to finish, and they are old."""

from __future__ import annotations

from reshardctl.errors import UsageError
from reshardctl.journal.listed_journals import Entry, State
from reshardctl.model.times import duration, parse_instant

NEEDED = {
    State.HALF_DONE: "half done: finish it with fix --resume, or undo it",
    State.UNDO_BEGUN: "its undo has begun: finish that with undo",
    State.UNREADABLE: "unreadable, so nothing tells whether it is needed",
}
"""Why journals of a state are kept, however old they are."""


def needed(entry: Entry, now: float, older_than: float) -> str:
    """Why a journal is kept; "" if it may be deleted.

    Args:
        entry: The journal as it is now.
        now: Unix seconds.
        older_than: Seconds since its fix began from which on a journal may be deleted.
    """
    if entry.open:
        return "being written now"
    if why := NEEDED.get(entry.state):
        return why
    try:
        began = parse_instant(entry.when)
    except UsageError:
        return "when it began cannot be read, so nothing tells how old it is"
    if now - began < older_than:
        return f"younger than {duration(older_than)}"
    return ""
