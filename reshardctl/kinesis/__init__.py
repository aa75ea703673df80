"""The only caller of Kinesis: a stream's summary, its shards, and bounded reads of records.

No call changes a stream; ACTIONS lists all that are made.

Other rooms import what this file names, and `aggregated`, `budget`, `fast`, `listing`, `target`,
`whose`. Read `client` first.
"""

from reshardctl.kinesis.client import Kinesis
from reshardctl.kinesis.target import ACTIONS

__all__ = ["ACTIONS", "Kinesis"]
