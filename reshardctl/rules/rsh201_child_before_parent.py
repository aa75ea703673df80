"""A shard is read while an ancestor still owes records.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.rules.base import Finding, Severity, View, from_effects

CODE, NAME = "RSH201", "child-before-parent"


def match(view: View) -> Iterator[Finding]:
    """Warning: order by key is broken between the two."""
    found = view.harmed(Harm.DISORDERED)
    what = "read while an ancestor still has unread records, and does not wait for it"
    costs = "records of one key may be processed out of order"
    yield from from_effects(CODE, NAME, found, what, costs, Severity.WARNING)
