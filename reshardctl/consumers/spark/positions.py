"""How a place in a shard is spelled in Spark's files, apart from any connector's syntax."""

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
    """One place as it is spelled.

    kind: one of KINDS. value: the number of a sequence-number kind, the milliseconds since 1970
    of AT_TIMESTAMP, else as it stands ("" from the connectors). sub, last: awslabs' place inside
    an aggregated record, and whether that is its last one. quiet: Unix seconds as of which nothing
    lay behind it, where the source notes that.
    """

    kind: str
    value: str = ""
    sub: int = -1
    last: bool = True
    quiet: float | None = None
