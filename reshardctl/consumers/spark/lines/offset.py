"""One source's offset, whichever source wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.consumers.spark.positions import Position
from reshardctl.model import ShardId


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with an offset.

    Attributes:
        raw: The text.
        shard: Whose position it is, `None` for the offset as a whole.
        fatal: Whether its own source cannot read it.
    """

    why: str
    raw: str
    shard: ShardId | None = None
    fatal: bool = True

    @property
    def where(self) -> str:
        """The reason, with the shard."""
        return f"{self.shard}: {self.why}" if self.shard else self.why


@dataclass(frozen=True, slots=True)
class SourceOffset:
    """An offset as read.

    Attributes:
        connector: The source that writes this shape, "unknown" for a connector's without shards.
        stream: The stream's name, "" where the offset holds none.
        batch_id: The connectors' own id, by which their log is filed, `None` where there is none.
        positions: Also those of a flawed offset that could be read.
        created: Unix seconds at which its stream was created, where the offset says.
    """

    connector: str
    stream: str
    batch_id: int | None
    positions: Mapping[ShardId, Position]
    flaws: tuple[Flaw, ...] = ()
    created: float | None = None

    @property
    def broken(self) -> str:
        """Why its source cannot read it, "" where it can."""
        return next((flaw.where for flaw in self.flaws if flaw.fatal), "")
