"""Positions as Spark's files spell them, apart from any connector's syntax."""

from __future__ import annotations

from dataclasses import dataclass

TRIM_HORIZON = "TRIM_HORIZON"
LATEST = "LATEST"
AT_TIMESTAMP = "AT_TIMESTAMP"
AT_SEQUENCE_NUMBER = "AT_SEQUENCE_NUMBER"
AFTER_SEQUENCE_NUMBER = "AFTER_SEQUENCE_NUMBER"
SHARD_END = "SHARD_END"

KINDS = frozenset(
    {TRIM_HORIZON, LATEST, AT_TIMESTAMP, AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, SHARD_END}
)
"""The iterator types of the connectors (KinesisPosition.scala of Qubole 1.2.0 and awslabs 2.0)."""

NUMBERED = frozenset({AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER})


@dataclass(frozen=True, slots=True)
class Position:
    """One position as it is spelled.

    Attributes:
        kind: One of KINDS.
        value: The number, the milliseconds since 1970 of AT_TIMESTAMP, else as stored.
        sub: awslabs' index inside an aggregated record.
        last: Whether that is the record's last one.
        quiet: Unix seconds as of which no record followed, where the source notes that.
    """

    kind: str
    value: str = ""
    sub: int = -1
    last: bool = True
    quiet: float | None = None
