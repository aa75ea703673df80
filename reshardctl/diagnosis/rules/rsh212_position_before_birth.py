"""A position belongs to a shard that does not exist yet.

What it is
----------
A row names a shard whose id is higher than that of any shard of the stream.

Why it matters
--------------
KCL asks for it, takes "not found" for its end and writes SHARD_END. When the next reshard creates a
shard of that id, it is finished from the start and never read (RSH206). KCL 1.0–1.13 and 2.0–2.2
delete such a row at their start, or crash if a parent named on it is listed. Quickwit ignores it
until the shard exists; then Kinesis refuses the position, and nothing of the shard is read.

How it happens
--------------
Rows prepared by hand for a later reshard; a table restored or copied from a stream with more
shards; the rows of an earlier stream of this name that had more.

What the fix writes
-------------------
Deletes such rows, each only if it is still exactly what was read. undo restores them.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
While the application runs: stop it first, or add --live where the plan says that all writes are
safe. It can wait until the next reshard, but no longer. A row with a number of another stream (one
that is older than this stream, too) belongs to an application that shares the table or the name: it
is never written and never deleted.

Example
-------
    3   open   49…20          the newest shard of the stream
    4   no such shard yet     TRIM_HORIZON

Seen in the wild
----------------
No public report known. awslabs/amazon-kinesis-client#187 shows how a table comes to hold another
stream's rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies, shards_of
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH212", "position-before-birth"


def match(view: View) -> Iterator[Finding]:
    """Warning: a future shard would begin finished; an error where the consumer crashes."""
    what = "positions of shards that do not exist yet"
    costs = "once such a shard exists, it is taken for finished, or its number is refused"
    anomalies = view.anomalies_of(AnomalyKind.UNBORN)
    if crashes := view.harmed(Harm.CRASHES, Cause.UNBORN):
        if anomalies:
            shards = shards_of(anomalies)
            yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    yield from from_anomalies(CODE, NAME, anomalies, Severity.WARNING, what, costs)
