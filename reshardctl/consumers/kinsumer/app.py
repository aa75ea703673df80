"""What a kinsumer application is configured with; no table holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.consumers.kinsumer.releases import Traits
from reshardctl.model import Image

TRIM_HORIZON, AT_TIMESTAMP = "TRIM_HORIZON", "AT_TIMESTAMP"


@dataclass(frozen=True, slots=True)
class App:
    """One candidate.

    initial: where shards that were never read start. time: Unix seconds of
    WithIteratorStartTimestamp, `None` if unknown. cached: the existing ShardCache row.
    """

    initial: str
    traits: Traits
    time: float | None = None
    cached: Image | None = field(default=None, compare=False)

    @property
    def by_time(self) -> bool:
        """Whether shards that were never read start by time."""
        return self.initial == AT_TIMESTAMP

    def options(self) -> Mapping[str, str]:
        """The options that distinguish this candidate, as a locator spells them."""
        return {"initial": self.initial, "release": self.traits.release}
