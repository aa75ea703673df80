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
    finding rests on them. asked: sequence number → whether Kinesis takes it in the shard that it
    names; `None` where it may not be asked. born: epoch of numbers that are not this stream's → ARN
    of the stream of this account that they are of. made_at: Unix seconds before which no row of the
    store was written, `None` if that is not known.
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
    asked: Mapping[int, bool | None] = field(default_factory=dict)
    born: Mapping[int, str] = field(default_factory=dict)
    made_at: float | None = None

    def __post_init__(self) -> None:
        """Tells the listing its time and Kinesis's answers.

        So no younger number counts as the stream's own, and none that Kinesis refuses.
        """
        taken = {number: told for number, told in self.asked.items() if told is not None}
        object.__setattr__(self, "lineage", self.lineage.as_of(self.now, taken, self.born))
