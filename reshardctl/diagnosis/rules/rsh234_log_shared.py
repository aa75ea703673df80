"""The log that tells where batches ended has rows of batches that this query never planned.

What it is
----------
Spark's awslabs connector keeps its log in a DynamoDB table (kinesis.dynamodb.tableName), and there
are rows of later batches than the checkpoint has planned.

Why it matters
--------------
The key of a row is batch and shard, and no query; a row is put only where none is. So the row that
is there stays when this query comes to that batch, and it goes on at the place in it: another
query's, which may lie behind records that this one has not read, or before some that it has.

How it happens
--------------
Two queries were given the same table, or a query was started anew with an empty checkpoint and kept
the table of the one before it.

What the fix writes
-------------------
Nothing: which of the rows another query still reads is not known to any of them. Give every query a
table of its own. If the rows are of a query that is gone, delete those of batches that this one has
not planned, and look again:

    reshardctl inspect spark:CHECKPOINT --stream NAME

When the fix is not offered
---------------------------
Always. Rows of batches that this query has planned look like its own.

Example
-------
    offsets/       … 41 42
    log=TABLE      … 41 42   43 44 45: of whom?

Seen in the wild
----------------
awslabs/spark-sql-kinesis-connector#12 and #26.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import Cause

CODE, NAME = "RSH234", "log-shared"


def match(view: View) -> Iterator[Finding]:
    """Warning: what it has done to earlier batches, and will do to later ones, no row shows."""
    for risk in view.simulation.risks:
        if risk.cause is Cause.SHARED_LOG:
            yield Finding(
                CODE, NAME, Severity.WARNING, risk.shards,
                "its log has rows of batches that this query has not planned", risk.why,
                helps=risk.helps,
            )
