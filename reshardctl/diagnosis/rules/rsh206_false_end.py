"""A shard is marked as finished while it is open.

What it is
----------
The row says SHARD_END, and the shard is listed as open.

Why it matters
--------------
KCL never reads a finished shard again and never removes SHARD_END: no record written to the shard
is read. The hash-range auditor counts its row as a lease and creates none. KCL 1.0–1.13 and 2.0–2.2
crash: their synchronisation finds the shard "not closed" twenty times, and the worker shuts down.

How it happens
--------------
A hand edit; a table restored or copied from another stream; the row of an earlier stream of this
name; a row of a shard that did not exist yet (RSH212) and now does.

What the fix writes
-------------------
TRIM_HORIZON: SHARD_END replaced the last position, so the shard is read from its beginning. If a
backup of the table has its last number, that is the better position: put it into the row while the
application is stopped, and inspect again. kinsumer keeps the number beside Finished: there Finished
is removed and the number stays.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
If it re-reads more than the --accept reread=… that was given: the shard is left alone and reported
with the flag that repairs it. While the application runs.

Example
-------
    1   open   SHARD_END     nothing written to it is read

Seen in the wild
----------------
No public report known. KCL 3.1.3 wrote such a row against kinesis-mock 0.6.2, which answers "not
found" where AWS refuses a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH206", "false-end"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard is never read again, or the whole consumer crashes, by release."""
    what = "marked as finished, but the shard is open"
    if crashes := view.harmed(Harm.CRASHES, Cause.FALSE_END):
        shards = tuple(s for s, f in view.simulation.fates.items() if f.cause is Cause.FALSE_END)
        shards = shards or tuple(s for e in crashes for s in e.by)
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    costs = "nothing that is written to it is read"
    yield from from_effects(CODE, NAME, view.harmed(Harm.STALLED, Cause.FALSE_END), what, costs)
