"""A row holds parents or children in a type that the consumer cannot read.

What it is
----------
parentShardId or childShardIds is no string set (SS) but a list, a string or something else.

Why it matters
--------------
KCL 2.x and 3.x read it as empty, so the shard waits for no parent. It is a warning if a parent
still has unread records (RSH201 is reported too), else info. KCL 1.x cannot list such a row and
crashes: an error. (1.0–1.13 do not read childShardIds.)

How it happens
--------------
A row written through a JSON document or an ORM, which turns a set into a list.

What the fix writes
-------------------
The parents, or the children, as a string set; the position stays.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
If it is only info: no shard waits for these parents any more. A plan made for another reason mends
unfinished rows as well.

Example
-------
    0   49…12 ─── 2   TRIM_HORIZON   parentShardId {"L": [{"S": "shardId-000000000000"}]}

Seen in the wild
----------------
No public report known. Run on KCL 1.15.3, 2.7.2 and 3.5.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies, shards_of
from reshardctl.diagnosis.rules.families import unreadable
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm

PARENTS = "parentShardId"
CODE, NAME = "RSH305", "parents-unreadable"


def match(view: View) -> Iterator[Finding]:
    """Error where the consumer crashes, warning where the order depends on it, else info."""
    anomalies = view.anomalies_of(AnomalyKind.PARENTS_UNREADABLE)
    crashes = view.harmed(Harm.CRASHES, Cause.UNREADABLE)
    if anomalies and crashes and not unreadable(view):
        what = "sets of shards on rows that are no string sets"
        yield Finding(
            CODE, NAME, Severity.ERROR, shards_of(anomalies), what, crashes[0].why, tuple(crashes)
        )
        return
    loose = {e.shard for e in view.harmed(Harm.DISORDERED) if not e.past}
    for needed in (True, False):
        some = [o for o in anomalies if (o.shard in loose) is needed]
        severity = Severity.WARNING if needed else Severity.INFO
        parents = any(PARENTS in anomaly.why for anomaly in some)
        what = f"{PARENTS} is no string set and is read as empty: the shard waits for no parent"
        if not parents:
            what = "childShardIds is no string set and is read as empty"
        yield from from_anomalies(CODE, NAME, some, severity, what)
