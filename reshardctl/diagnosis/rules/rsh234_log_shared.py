"""The connector's log has rows of batches that this query never planned.

What it is
----------
Spark's awslabs connector keeps its log in a DynamoDB table (kinesis.dynamodb.tableName), and the
table has rows of later batches than the checkpoint has planned.

Why it matters
--------------
The key of a row names batch and shard, but no query; a row is written only where none exists. So an
existing row stays when this query comes to that batch, and the query continues at its position:
another query's, which may be after records that this one has not read, or before some that it has.

How it happens
--------------
Two queries were given the same table, or a query was restarted with an empty checkpoint and kept
the previous table.

What the fix writes
-------------------
Nothing: which of the rows another query still reads is not known. Give every query a table of its
own. If the rows are of a query that no longer exists, delete those of batches that this one has not
planned, and inspect again:

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
    """Warning: no row shows what it did to earlier batches and will do to later ones."""
    for risk in view.simulation.risks:
        if risk.cause is Cause.SHARED_LOG:
            yield Finding(
                CODE, NAME, Severity.WARNING, risk.shards,
                "its log has rows of batches that this query has not planned", risk.why,
                helps=risk.helps,
            )
