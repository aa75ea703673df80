"""A position is not valid in its shard.

What it is
----------
The number belongs to another shard, is outside this shard's range of numbers, has a time in the
future, or has a layout that no number of the stream has.

Why it matters
--------------
Kinesis refuses it at every attempt. KCL retries for ever, without a fallback, while its lease stays
owned and its counter moves: the table looks alive, and the shard and its children are not read
(RSH213).

Spark's connectors crash the query, at every start. kinesis-consumer from 0.4 on reads the shard
again from its beginning and only writes a line to its log. Telegraf leaves the shard unread, and so
does Quickwit, whose source looks healthy and reads the others. If Kinesis accepts a number from the
future, nothing is found after it.

How it happens
--------------
An application that passes one shard's checkpointer the record of another; rows copied by hand; one
row left over from an earlier stream of this name; a digit lost or doubled by hand.

What the fix writes
-------------------
TRIM_HORIZON for that shard: nothing is skipped, and what had been read is re-read.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
If that re-reads more than the --accept reread=… that was given: the shard is left alone and
reported with the flag that repairs it. If the number is younger than the stream and fits none of
its shards, the table is another stream's: exit 2, never fixed. If every number is older than the
stream, it is RSH102.

Example
-------
    0   closed   49…(of shard 1) ─┬─ 2   waits for 0
                                  └─ 3   waits for 0

Seen in the wild
----------------
awslabs/amazon-kinesis-client#391; boto/boto3#1478; amazon-archives/amazon-kinesis-connectors#8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause, awaited
from reshardctl.planning.effects import Effect, Harm

CODE, NAME = "RSH207", "position-out-of-range"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: Kinesis always refuses the number, while the row looks alive."""
    what = "its position is a number of another shard or of an earlier stream of this name"
    stalls = [] if view.recreated else view.harmed(Harm.STALLED, Cause.FOREIGN_NUMBER)
    costs = f"Kinesis refuses the number at every attempt; {_unread(view, stalls)} not read"
    yield from from_effects(CODE, NAME, stalls, what, costs)
    ahead = [] if view.recreated else view.harmed(Harm.SKIPPED, Cause.FOREIGN_NUMBER)
    what_ahead = "its position is a number from the future, and of no record"
    costs = "the consumer goes on behind it, or Kinesis refuses it: what is there is not read"
    yield from from_effects(CODE, NAME, ahead, what_ahead, costs, Severity.ERROR)
    again = [] if view.recreated else view.harmed(Harm.REREAD, Cause.FOREIGN_NUMBER)
    costs = "Kinesis refuses the number; the consumer silently reads the shard from its beginning"
    yield from from_effects(CODE, NAME, again, what, costs, Severity.WARNING)
    crashes = [] if view.recreated else view.harmed(Harm.CRASHES, Cause.FOREIGN_NUMBER)
    if crashes:
        shards = tuple(s for e in crashes for s in e.by)
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))


def _unread(view: View, stalls: Sequence[Effect]) -> str:
    """What is unread: consumers that keep no order read the children of such a shard."""
    refused = {effect.shard for effect in stalls}
    fates = view.simulation.fates.values()
    waits = any(not refused.isdisjoint(awaited(fate)) for fate in fates)
    return "the shard and its children are" if waits else "the shard is"
