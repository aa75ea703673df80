"""What a judgement is made from: a stream and one consumer's rows, frozen together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.activity import Watched
from reshardctl.lineage import Foreseen, Lineage
from reshardctl.model import Count, Image, Interval, Probe, ShardId


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`now`: Unix seconds at which it was taken. store: the medium's identity.

    foreseen: what was done to the lineage in thought (preflight); `None` if it is as listed.
    watched: what moved while the consumer was watched; `None` if it was not.
    """

    locator: Locator
    lineage: Lineage
    images: tuple[Image, ...]
    store: Mapping[str, str]
    now: float
    probes: Mapping[ShardId, Probe] = field(default_factory=dict)
    counts: Mapping[Interval, Count] = field(default_factory=dict)
    foreseen: Foreseen | None = None
    watched: Watched | None = None

    def __post_init__(self) -> None:
        """The listing knows when it was taken: no number of it is younger."""
        object.__setattr__(self, "lineage", self.lineage.as_of(self.now))
