"""A lost position is created again at the application's initial position.

What it is
----------
An open shard has no lease. KCL's hash-range auditor notices the hole and creates a lease, not where
the shard was left but at the application's initial position.

Why it matters
--------------
With LATEST, all records written before that moment are skipped, five to seven minutes into the
start; with AT_TIMESTAMP, all before that time. The log reports a hole that was filled, not records
that were skipped. KCL 1.0–1.13 and 2.0–2.2 have no auditor and do the same at once, at their start.

How it happens
--------------
Rows were deleted, or a parent expired before its children had leases. The leader audits every two
minutes and creates leases once it has seen the same hole three times.

Snowplow's kinsumer with WithIteratorStartTimestamp starts every shard that was never read at that
time, at every start: if the time moves with the start, children created before it lose records.

kinesis-consumer begins every shard without a row at its start mode, which is LATEST by default:
every reshard loses the children's first records.

What the fix writes
-------------------
A lease at TRIM_HORIZON, before the auditor creates one, and without the skip. For kinsumer, a
checkpoint at the shard's StartingSequenceNumber, which overrides the time.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
If what to write depends on how the application starts, which no table shows: exit 4, and the answer
names the option, such as 'kcl://TABLE?initial=LATEST'. If reading the shard from its beginning
re-reads more than the --accept reread=… that was given.

Example
-------
    0   no position ─┬─ 2   49…17
                     └─ 3   open, no position: re-created at LATEST

Seen in the wild
----------------
awslabs/amazon-kinesis-client#461 (a row deleted under a running consumer).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View, from_effects
from reshardctl.diagnosis.rules.families import below_a_row, is_open
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH209", "refilled-at-start-position"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: what was written to the shard before that is skipped."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.REFILLED)
        if is_open(view, e.shard) or below_a_row(view, e.shard)
    ]
    what = "has no position; the consumer makes one at the application's start position"
    costs = "what was written before that is skipped"
    yield from from_effects(CODE, NAME, effects, what, costs)
