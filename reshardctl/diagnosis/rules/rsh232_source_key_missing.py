"""The key that holds all positions of the consumer is missing.

What it is
----------
Quickwit from 0.9 on: the source is configured, and its key is not in the index's checkpoint. A
source that has published nothing has an empty map there.

Why it matters
--------------
The source fails at every start ("failed to fetch checkpoint: could not find checkpoint for index …
and source …"), every two seconds, for ever. Nothing is read.

How it happens
--------------
`quickwit source reset-checkpoint` or `quickwit index clear` removes the key: releases before 0.9
take that for an empty checkpoint and begin again, 0.9 does not start. Or a hand edit.

What the fix writes
-------------------
The key, with an empty map, as Quickwit writes it for a new source: every shard is then read from
its beginning, which is what a reset asks for. The key held what was published, so the plan counts
all records in the stream as re-read. Nothing else changes.

    reshardctl fix quickwit+file:///ROOT --stream NAME --dry-run

To start elsewhere, give a policy: --policy at-timestamp=2026-09-22T09:14:00Z.

When the fix is not offered
---------------------------
While a node that runs the metastore may be up: stop every one of them first. Deleting and
re-creating the source adds the key as well.

Example
-------
    "checkpoint": {
      "_ingest-source": {}            no "kinesis-source": a reset took it away
    }

Seen in the wild
----------------
quickwit-oss/quickwit#5847 and #5868 (the same message, of another kind of source).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH232", "source-key-missing"


def match(view: View) -> Iterator[Finding]:
    """Error: the source does not start."""
    if crashes := tuple(view.harmed(Harm.CRASHES, Cause.NO_CHECKPOINT)):
        yield Finding(
            CODE, NAME, Severity.ERROR, (), "the source has no key in the checkpoint",
            crashes[0].why, crashes,
            helps="releases before 0.9 start from the beginning instead",
        )
