"""A stored place lies behind what the stream still keeps.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.rules.base import Finding, Severity, View, from_effects

CODE, NAME = "RSH204", "position-expired"


def match(view: View) -> Iterator[Finding]:
    """Warning: records may be gone already, and no position brings them back."""
    found = [e for e in view.harmed(Harm.SKIPPED) if e.gone]
    what = "its position is older than the stream's retention, or its shard has expired"
    costs = "records behind it may be gone already; nothing brings them back"
    yield from from_effects(
        CODE, NAME, found, what, costs, Severity.WARNING, "--probe tells an idle shard from a loss"
    )
