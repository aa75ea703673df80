"""What is judged: a stream and one consumer's rows, read at one time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.activity import Watched
from reshardctl.lineage import Foreseen, Lineage
from reshardctl.model import Count, Image, Interval, Probe, ShardId


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stream with one consumer's rows.

    now: Unix seconds at which it was taken. store: the medium's identity. foreseen: the assumed
    reshards (preflight), `None` if the lineage is as listed. watched: what changed during a watch,
    `None` without one. first_records: reads of the first record after a position, for metrics; no
    finding rests on them.
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
    first_records: Mapping[ShardId, Probe] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Tells the listing its time, so that no younger number counts as its own."""
        object.__setattr__(self, "lineage", self.lineage.as_of(self.now))
