"""A child starts at the tip as of the consumer's next start.

What it is
----------
A child's row says LATEST, or the row of a shard without parents that was read before, or whose
application starts elsewhere. LATEST is resolved when a worker first asks for the shard, at every
start again until a record of it is checkpointed.

Why it matters
--------------
All records written to the child until then are skipped silently: its backlog now and, if a parent
is still read first, all that arrives in the meantime.

How it happens
--------------
KCL itself starts children at TRIM_HORIZON, whatever the application's initial position. LATEST on a
child was set by hand to skip a backlog, or by the hash-range auditor of a LATEST application that
refilled a hole (then the parent's row was lost as well, RSH202).

What the fix writes
-------------------
TRIM_HORIZON: a child's own beginning, which is the moment of the reshard, not the stream's.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
LATEST on a root of a LATEST application, and its table from which nothing was read yet, are normal
and no finding, unless the row itself shows that the root was read: a pendingCheckpoint with a
number, a sub-sequence number, childShardIds; or another row does, by the number of one of its
records. --policy latest-at-start asks for exactly this position: it says what it skips, and the
finding stays.

Example
-------
    0 ─ end ─┬─ 2   LATEST: 15 minutes of records skipped
             └─ 3   LATEST

Seen in the wild
----------------
awslabs/amazon-kinesis-client#751, #734 and #580 ask for it; the maintainer's answer in #751 is that
it would lose what arrives before the start.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View, from_effects
from reshardctl.diagnosis.rules.families import below_a_row, is_open
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm
from reshardctl.planning.policy import LATEST_AT_START

CODE, NAME = "RSH208", "child-at-latest"
WANTED_BY = frozenset({LATEST_AT_START.name})


def match(view: View) -> Iterator[Finding]:
    """Error or warning: records written to the child before that start are skipped."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.LATEST)
        if not e.gone and (is_open(view, e.shard) or below_a_row(view, e.shard))
    ]
    what = "at LATEST: the start is at the tip as of the consumer's next start"
    costs = "everything written until then is skipped"
    yield from from_effects(CODE, NAME, effects, what, costs)
