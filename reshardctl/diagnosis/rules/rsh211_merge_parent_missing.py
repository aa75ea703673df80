"""One parent of a merge has no position.

What it is
----------
A shard that was merged is still being read, and the other parent of the merge has no lease.

Why it matters
--------------
KCL ends a merged parent only while both have a lease, or neither. Until then it retries ("partial
parent information in lease table", metric MissingMergeParentLease), and the merged shard waits. It
is info if the hash-range auditor restores the missing lease without a loss, an error if that skips
records or never happens, and a warning if only the end of this shard is affected.

How it happens
--------------
The row of one parent was deleted, or lost when a table was restored in part. The shards that
UpdateShardCount creates for seconds are parents of merges too.

What the fix writes
-------------------
A lease for the missing parent: at TRIM_HORIZON if it may have unread records, as SHARD_END if it is
proven to be processed or is not listed any more. KCL deletes the lease of an unlisted shard again
half an hour after a worker took it: if the other parent has not ended by then, run the fix again.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
If it is info: the auditor does the same within some minutes. If re-reading the missing parent costs
more than the --accept reread=… that was given, the finding of that parent (RSH202, RSH203) names
the flag that repairs it.

Example
-------
    0   49…12         ─┐
    1   no position   ─┴─ 2   open, no position: waits

Seen in the wild
----------------
No public report known. Run on KCL 1.15.3, 2.7.2 and 3.5.1; risingwavelabs/risingwave#9961 shows
the merges of short-lived shards.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.diagnosis.rules.families import merges_without_a_parent, never_ending
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH211", "merge-parent-missing"


def match(view: View) -> Iterator[Finding]:
    """Info if the missing parent comes back as it should, else an error or a warning.

    Error: it is not read. Warning: only the other parent never ends.
    """
    endless = set(never_ending(view))
    pairs = dict(merges_without_a_parent(view))
    for waiting in dict.fromkeys([*pairs, *endless]):
        missing = pairs.get(waiting)
        hurt = [e for e in view.effects if e.shard == missing and e.harm is not Harm.REREAD]
        lasting = Severity.WARNING if waiting in endless else Severity.INFO
        yield Finding(
            CODE, NAME, Severity.ERROR if hurt else lasting, (waiting,),
            "cannot end while the other parent of its merge has no position",
            "the merged shard waits until it has one" if hurt else "",
            tuple(e for e in hurt if missing is not None),
        )
