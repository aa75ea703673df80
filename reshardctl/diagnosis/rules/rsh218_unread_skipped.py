"""The next start skips unread records, for a reason that no other rule reports.

What it is
----------
The consumer's next start begins a shard after unread records, or never reads the rest of it, or the
whole consumer crashes, and none of the other rules explains it. This rule looks last, and reports
every loss that the others leave.

Why it matters
--------------
The skipped records are lost when they expire.

How it happens
--------------
The store of an application that starts at LATEST is empty: a new application, or a lost table.
kinesis-consumer then begins every shard at its tip (runs of v0.5.0, November 2026).

Or somebody changed a position by hand, in a way that no reshard and no release of the library does.
An example is a shard that was taken out of the offset log of a planned Spark batch, while the
connector's log of that batch still has an entry of it: Qubole's connector goes on after that entry
and skips the records before it (runs of 1.2.0 on Spark 3.5.9, November 2026). Or a copy lies beside
an entry of that log and says something else (`shardId-000000000000.bak`): both connectors read all
files, and the one that the file system lists last counts.

Or awslabs' connector reads with consumerType=SubscribeToShard and an idle shard began at a time, as
it does under LATEST: up to 2.0.0 it asks for that time again in every batch and never gets past it.

What the fix writes
-------------------
The position up to which the shard is processed; its beginning, where no position is stored and
where a start by time is never passed.

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
awslabs/spark-sql-kinesis-connector#91 (a shard that is never read under enhanced fan-out; fixed on
main by #92). No public report names the other causes yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Effect, Harm

CODE, NAME = "RSH218", "unread-skipped"
LOSSES = (
    (Harm.SKIPPED, "the next start begins after unread records",
     "the records before that are lost once they expire"),
    (Harm.STALLED, "the next start never reads the rest of this shard",
     "its unread records are lost once they expire"),
    (Harm.CRASHES, "the consumer may crash at its start, and reads nothing then", ""),
)
"""A loss, what a finding says of it, and what it costs: of a crash, what crashes it."""


def match(view: View) -> Iterator[Finding]:
    """Report a loss that none of `view.findings` explains: an error where it is certain."""
    if view.findings is None:
        return
    for harm, what, costs in LOSSES:
        left = [e for e in view.harmed(harm) if not _explained(e, view.findings)]
        if left and (not costs or all(e.cause is Cause.TIME_NOT_PASSED for e in left)):
            costs = left[0].why
        yield from from_effects(CODE, NAME, left, what, costs)


def _explained(effect: Effect, findings: Sequence[Finding]) -> bool:
    """Whether a finding lists the effect, or lists no effects and explains it all the same.

    The latter is a warning or an error of the effect's shard, or an error of the whole consumer.
    """
    return any(
        effect in finding.effects or (not finding.effects and (
            (effect.shard in finding.shards and finding.severity > Severity.INFO)
            or (not finding.shards and finding.severity is Severity.ERROR)
        ))
        for finding in findings
    )
