"""What the connector did at the next start from each recorded state.

Source: runs of com.qubole.spark:spark-sql-kinesis_2.12:1.2.0_spark-3.0 on PySpark 3.5.9, November
2026, recorded with the checkpoints; `repaired` is after an appended batch with the positions of the
state's own `repair` (in place where its newest batch is uncommitted).
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.proof.libraries.spark.shapes import Shape

FOLDER = "qubole-1.2.0_spark-3.0"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One state: what a start delivers, sorted, and whether it loses or dies."""

    name: str
    as_it_is: tuple[str, ...]
    """Payloads that the next start delivers."""
    lost: tuple[str, ...] = ()
    """Payloads that no start will deliver."""
    dies: str = ""
    """Words of the exception that the start dies of."""

    @property
    def shape(self) -> Shape:
        return Shape(FOLDER, self.name)

    @property
    def sound(self) -> bool:
        return not (self.lost or self.dies)

    @property
    def due(self) -> list[str]:
        """What a repaired start delivers: everything, once."""
        return sorted(self.as_it_is + self.lost)

    def __str__(self) -> str:
        return self.name


def of(**records: range) -> tuple[str, ...]:
    """Payloads: ``of(s0=range(4, 10))`` is s0-4 … s0-9."""
    return tuple(f"{shard}-{index}" for shard, indices in records.items() for index in indices)


_SPLIT = of(s0=range(4, 10), s1=range(3), s2=range(3))
RECORDED = (
    Recorded("s1", _SPLIT),
    Recorded("s1x", ("s1-3", "s2-3")),
    Recorded("s2", ("s1-1", "s2-1")),
    Recorded("s3", ("s0-6",), lost=of(s1=range(2), s2=range(2))),
    Recorded("s4", (), lost=of(s1=range(2), s2=range(2)), dies="Some data may have been lost"),
    Recorded("m1", of(s0=range(3, 5), s1=range(3, 4), s2=range(3))),
    Recorded("t1", of(s0=range(4, 6), s1=range(2), s2=range(1), s3=range(2), s4=range(1))),
    Recorded("u1", _SPLIT),
)
"""Every state of the folder."""
BY_NAME = {each.name: each for each in RECORDED}
