"""The consumer may fail again and again before it commits any of its work.

What it is
----------
Quickwit: a closed shard may be read to its end before its own parent announces it. The source then
reads it again from the stored position, and the batch in flight does not follow: it is refused.

Why it matters
--------------
All that was read since the last commit is dropped, and the source restarts. If that happens before
every commit, it makes no progress: seen were ten starts, 600 documents indexed, none published.

How it happens
--------------
Two reshards within one retention, with unread records in both generations, the older ones slower to
drain. In backfill mode any closed parent suffices: its children reach their tips and end first.

What the fix writes
-------------------
Nothing: no position changes which shard drains first. Set commit_timeout_secs of the index below
the time that the oldest shards take; with one second it recovered after one failure. In backfill
mode turn enable_backfill_mode off until the closed parents are no longer listed. To see how much is
unread:

    reshardctl inspect quickwit+file:///ROOT --stream NAME --probe

When the fix is not offered
---------------------------
Always. The finding disappears once the closed shards are read, or no longer listed.

Example
-------
    0   closed, 400 records left ─┬─ 2   closed, 3 records left ─┬─ 4   open
                                  └─ 3   open                    └─ 5   open

Seen in the wild
----------------
No public report known of this cause; quickwit-oss/quickwit#1025 and #2916 show such loops.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import Cause

CODE, NAME = "RSH233", "may-never-commit"


def match(view: View) -> Iterator[Finding]:
    """Warning: a race, which a read that finds the shards drained rules out."""
    for risk in view.simulation.risks:
        if risk.cause not in (Cause.BACKFILL, Cause.LIVELOCK):
            continue
        probes = view.state.probes
        drained = {s for s in risk.shards if s in probes and probes[s].drained}
        if risk.cause is Cause.LIVELOCK and drained == set(risk.shards):
            continue
        yield Finding(
            CODE, NAME, Severity.WARNING, risk.shards,
            "the source may fail again and again before anything is committed", risk.why,
            helps=risk.helps,
        )
