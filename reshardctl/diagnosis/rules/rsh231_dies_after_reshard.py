"""The whole consumer crashes at every start, because the stream was resharded.

What it is
----------
Quickwit up to 0.8.2: ListShards names a closed shard and a child of it. Once it is read to its end,
the closed shard announces the child; the source reads that child already, and panics.

Why it matters
--------------
No shard of the source is read, and nothing is published. It restarts for ever, with "channel
closed" in its log, until the closed shard leaves the listing, one retention after its close.

How it happens
--------------
The reshard itself goes well, because the child is new then. The next restart, of the node or of the
source, finds both. Deleting and re-creating the source does not help, nor does resetting its
checkpoint: the listing is the same, and a source without positions reads the closed shard too.

What the fix writes
-------------------
With --probe: the EndingSequenceNumber for each closed shard in which a read found nothing left, and
that would announce a child (of a merge only ParentShardId does). Kinesis refuses to start after
that number: the shard is not read, all others are. Two ERROR lines a start remain.

    reshardctl fix quickwit+file:///ROOT --stream NAME --probe --dry-run

When the fix is not offered
---------------------------
While one of them holds unread records: no position lets the release start and keeps them. Upgrade
to 0.9.0, which reads all of it; or wait until the shard leaves the listing; or skip the records
with --policy latest. Extending the stream's retention now makes the outage longer.

Example
-------
    0   closed 49…12, listed until 14:05Z ─┬─ 2   49…17    is read from the start
                                           └─ 3   49…20    on, and announced again

Seen in the wild
----------------
quickwit-oss/quickwit#5896 (fixed by #5912, first in 0.9.0). Run on 0.8.2: split, merge, two
generations; 0 records lost after the fix.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH231", "dies-after-reshard"


def match(view: View) -> Iterator[Finding]:
    """Error: nothing is read until the closed shards are no longer listed."""
    crash = view.simulation.crash
    if crashes := tuple(view.harmed(Harm.CRASHES, Cause.KNOWN_CHILD)):
        assert crash is not None
        yield Finding(
            CODE, NAME, Severity.ERROR, crash.by,
            "closed shards are listed together with their children, which crashes this release",
            f"{crash.why}; so at every start until {crash.until}", crashes,
            helps="deleting or resetting the source does not help; release 0.9.0 starts",
        )
