"""A row that the consumer cannot read.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause, Oddity
from reshardctl.rules.base import Finding, Severity, View, earliest, shards_of

CODE, NAME = "RSH301", "unreadable-entry"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard is not read, or the whole consumer dies, by release."""
    odd = view.oddities(Oddity.UNREADABLE)
    if not odd:
        return
    why = "; ".join(dict.fromkeys(o.why for o in odd))
    costs = "its shard is never read"
    if dies := view.harmed(Harm.DIES):
        costs = dies[0].why
    stalls = tuple(e for e in view.harmed(Harm.STALLED, Cause.UNREADABLE) if not e.by)
    yield Finding(
        CODE, NAME, Severity.ERROR, shards_of(odd), f"rows that cannot be read: {why}", costs,
        (*dies, *stalls), earliest(stalls),
    )
