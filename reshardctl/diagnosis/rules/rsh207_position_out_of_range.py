"""A position is not valid in its shard.

What it is
----------
The number belongs to another shard or to another stream, has a time in the future, or has a layout
that no number of the stream has. Whose it is, its epoch tells where that is the second in which its
shard began; of other numbers Kinesis is asked (GetShardIterator), of at most five by `inspect`.

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
TRIM_HORIZON for that shard: nothing is skipped, and what had been read is re-read. A row with a
number of another stream is never written and never deleted.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
If that re-reads more than the --accept reread=… that was given: the shard is left alone and
reported with the flag that repairs it. If the number is another stream's: give each application a
table of its own, and delete the row yourself. If it is older than the stream, it may be of an
earlier stream of this name: after you have looked at the creation time, `fix --recreated
CREATION-TIME` repairs it. If no number is this stream's, the table is another stream's: exit 2,
never fixed. If every number is older than the stream, it is RSH102.

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

from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.identity import Foreign
from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause, awaited
from reshardctl.planning.effects import Effect, Harm

CODE, NAME = "RSH207", "position-out-of-range"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: Kinesis always refuses the number, while the row looks alive."""
    if view.recreated:
        return
    stalls = view.harmed(Harm.STALLED, Cause.FOREIGN_NUMBER)
    costs = f"Kinesis refuses the number at every attempt; {_unread(view, stalls)} not read"
    for what, helps, part in _by_stream(view, stalls):
        yield from from_effects(CODE, NAME, part, what, costs, helps=helps)
    ahead = view.harmed(Harm.SKIPPED, Cause.FOREIGN_NUMBER)
    costs = "the consumer goes on after it, or Kinesis refuses it: what is there is not read"
    for what, helps, part in _by_stream(view, ahead, _AHEAD):
        yield from from_effects(CODE, NAME, part, what, costs, Severity.ERROR, helps)
    again = view.harmed(Harm.REREAD, Cause.FOREIGN_NUMBER)
    costs = "Kinesis refuses the number; the consumer silently reads the shard from its beginning"
    for what, helps, part in _by_stream(view, again):
        yield from from_effects(CODE, NAME, part, what, costs, Severity.WARNING, helps)
    if crashes := view.harmed(Harm.CRASHES, Cause.FOREIGN_NUMBER):
        shards = tuple(s for e in crashes for s in e.by)
        what = next((_of(view.foreign[s]) for s in shards if s in view.foreign), _OTHER_SHARD)
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))


_OTHER_SHARD = "its position is a number of another shard, or of none"
_AHEAD = "its position is a number from the future, and of no record"
_HELPS = {
    Origin.ELSEWHERE:
        "such a row is never written and never deleted: give each stream's application a table, or "
        "a name, of its own; then delete the row yourself, so that the library makes its own",
    Origin.EARLIER:
        "if the stream was deleted and made again, run fix with --recreated and the creation time "
        "that aws kinesis describe-stream-summary tells; else another stream's application uses "
        "this store",
}


def _by_stream(
    view: View, effects: Sequence[Effect], what: str = _OTHER_SHARD
) -> Iterator[tuple[str, str, list[Effect]]]:
    """The effects by whose the number is: what it is, what helps, and the effects of these."""
    parts: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        foreign = view.foreign.get(effect.shard) if effect.shard is not None else None
        key = (what, "") if foreign is None else (_of(foreign), _HELPS[foreign.origin])
        parts.setdefault(key, []).append(effect)
    for (told, helps), part in parts.items():
        yield told, helps, part


def _of(foreign: Foreign) -> str:
    return f"its position is a number of {foreign.words}"


def _unread(view: View, stalls: Sequence[Effect]) -> str:
    """What is unread: consumers that keep no order read the children of such a shard."""
    refused = {effect.shard for effect in stalls}
    fates = view.simulation.fates.values()
    waits = any(not refused.isdisjoint(awaited(fate)) for fate in fates)
    return "the shard and its children are" if waits else "the shard is"
