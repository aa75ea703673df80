"""A closed shard with unread records that nothing will read.

What it is
----------
A closed shard has no lease (or is at LATEST), and neither has a parent of it. Either nothing will
ever read it, or KCL gives it a lease that starts after its unread records.

Why it matters
--------------
Its unread records are lost when they expire. Its children may start at once, because an absent
parent does not block them.

How it happens
--------------
Its row was deleted. KCL deletes finished rows too, but only once every child has made progress;
here no such progress is stored. A root at LATEST that closed before its first checkpoint looks the
same. No store shows whether records are left, so this is mostly a warning.

Spark's awslabs connector from 1.4.3 on takes every closed shard for read, whatever its position: a
split while the consumer is behind is enough, and the loss is certain.

kinesis-consumer's master takes a shard for read once a descendant has a row. Nothing can be written
then: run v0.5.0, which reads what is left, or delete the descendants' rows.

What the fix writes
-------------------
A lease for the shard at TRIM_HORIZON. Its children wait for its end: if a child's row does not name
it, the name is added. Read its tail first: if nothing is left, nothing is written.

    reshardctl inspect kcl://TABLE --stream NAME --probe
    reshardctl fix kcl://TABLE --stream NAME --probe --dry-run

When the fix is not offered
---------------------------
If it re-reads more than the --accept reread=… that was given: the shard is left alone and reported
with the flag that repairs it. Without --accept it is planned whatever it costs, and you are asked
when it is written.

Example
-------
    0   closed, no position ─┬─ 2   TRIM_HORIZON: starts without waiting for 0
                             └─ 3   TRIM_HORIZON

Seen in the wild
----------------
awslabs/amazon-kinesis-client#461 (a row deleted under a running consumer).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View, from_effects
from reshardctl.diagnosis.rules.families import below_a_row, is_closed, waits_for_a_parent
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH202", "parent-abandoned"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: the shard's unread records are lost once they expire."""
    never = [
        e for e in view.harmed(Harm.STALLED, Cause.NO_POSITION)
        if not waits_for_a_parent(view, e.shard)
    ]
    too_late = [e for e in view.harmed(Harm.SKIPPED, Cause.REFILLED, Cause.LATEST) if not e.gone]
    effects = [
        e for e in (*never, *too_late)
        if is_closed(view, e.shard) and not below_a_row(view, e.shard)
    ]
    effects += [e for e in view.harmed(Harm.SKIPPED, Cause.TAKEN_FOR_READ) if not e.gone]
    probes = [view.state.probes.get(e.shard) for e in effects if e.shard is not None]
    seen = bool(probes) and all(probe is not None and probe.count for probe in probes)
    what = "closed, and nothing will read what is still unread"
    if seen:
        what = "closed with records left in it, and nothing will read them"
    costs = "the unread records are lost once they expire"
    yield from from_effects(CODE, NAME, effects, what, costs)
