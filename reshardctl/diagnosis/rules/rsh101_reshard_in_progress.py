"""The stream is still being resharded.

What it is
----------
The stream's status is UPDATING. It was listed twice with the same answer and the listing is
consistent, so the report is true of that moment and may be out of date when you read it.

Why it matters
--------------
Shards created after the listing are in no finding and in no plan.

How it happens
--------------
SplitShard, MergeShards, UpdateShardCount, or an on-demand stream that scales. UpdateShardCount
works in rounds and creates shards that live for seconds: empty ones are normal.

What the fix writes
-------------------
Nothing. Wait until the stream is ACTIVE and inspect it again:

    reshardctl inspect kcl://TABLE --stream NAME --wait 15m

When the fix is not offered
---------------------------
Always. A plan for another finding stays bound to the listing it was proven on: if shards have
changed since, applying it is refused (exit 4), and the command makes a new plan.

Example
-------
    0 ─────────┐
    1 ─┬─ 4 ───┴─ 6    open
       └─ 5 ───┐
    2 ─┬─ 7 ───┴─ 9    open
       └─ 8 ───┐
    3 ─────────┴─ 10   open      4, 5, 7 and 8 lived for seconds

Seen in the wild
----------------
risingwavelabs/risingwave#9961: four shards to three by way of splits and merges.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View

CODE, NAME = "RSH101", "reshard-in-progress"


def match(view: View) -> Iterator[Finding]:
    """Info: the listing was consistent, and may change."""
    if view.lineage.stream.status == "UPDATING":
        what = "the stream is UPDATING: shards may still be split or merged"
        yield Finding(CODE, NAME, Severity.INFO, (), what, helps="look again with --wait 15m")
