"""What a KCL application is configured with; no lease table holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from reshardctl.consumers.kcl.releases import Traits


class Start(StrEnum):
    """InitialPositionInStream."""

    LATEST = "LATEST"
    TRIM_HORIZON = "TRIM_HORIZON"
    AT_TIMESTAMP = "AT_TIMESTAMP"


@dataclass(frozen=True, slots=True)
class App:
    """One candidate: a start mode and a release.

    Attributes:
        time: Unix seconds for AT_TIMESTAMP.
        failover: failoverTimeMillis, in seconds.
    """

    initial: Start
    traits: Traits
    time: float | None = None
    failover: float = 10.0

    def options(self) -> Mapping[str, str]:
        """The options that tell this candidate from others, as a locator spells them."""
        return {"initial": str(self.initial), "release": self.traits.release}
