"""The next start skips unread records, for a reason that no other rule reports.

What it is
----------
The consumer's next start begins a shard behind unread records, or never reads the rest of it, and
none of the other rules explains it. This rule looks last, and reports every loss that the others
leave.

Why it matters
--------------
The skipped records are lost when they expire.

How it happens
--------------
The store of an application that starts at LATEST is empty: a new application, or a lost table.
kinesis-consumer then begins every shard at its tip (runs of v0.5.0, November 2026).

Or somebody changed a position by hand, in a way that no reshard and no release of the library does.
An example is a shard that was taken out of the offset log of a planned Spark batch, while the
connector's log of that batch still has an entry of it: Qubole's connector goes on behind that entry
and skips the records before it (runs of 1.2.0 on Spark 3.5.9, November 2026).

What the fix writes
-------------------
The position up to which the shard is processed; its beginning, where no position is stored.

    reshardctl inspect LOCATOR --stream NAME --count
    reshardctl fix LOCATOR --stream NAME --dry-run

When the fix is not offered
---------------------------
Where it re-reads more than the --accept reread=… that was given. A new application needs no fix.

Example
-------
    1   processed up to 49…10   begins at 49…30: what lies between is skipped

Seen in the wild
----------------
No public report names it yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.planning.effects import Effect, Harm

CODE, NAME = "RSH218", "unread-skipped"


def match(view: View) -> Iterator[Finding]:
    """Report a loss that none of `view.findings` names: an error where it is certain."""
    if view.findings is None:
        return
    skipped = [e for e in view.harmed(Harm.SKIPPED) if not _explained(e, view.findings)]
    what = "the next start begins behind unread records"
    costs = "the records before that are lost once they expire"
    yield from from_effects(CODE, NAME, skipped, what, costs)
    stalled = [e for e in view.harmed(Harm.STALLED) if not _explained(e, view.findings)]
    what = "the next start never reads the rest of this shard"
    costs = "its unread records are lost once they expire"
    yield from from_effects(CODE, NAME, stalled, what, costs)


def _explained(effect: Effect, findings: Sequence[Finding]) -> bool:
    """Whether a finding lists the effect, or names its shard without listing effects."""
    return any(
        effect in finding.effects
        or (not finding.effects and finding.severity > Severity.INFO
            and (effect.shard in finding.shards or not finding.shards))
        for finding in findings
    )
