"""What a judgement is made from: a stream and one consumer's rows, frozen together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.lineage import Foreseen, Lineage
from reshardctl.locator import Locator
from reshardctl.model import Image, Probe, ShardId


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`now`: Unix seconds at which it was taken. store: the medium's identity.

    foreseen: what was done to the lineage in thought (preflight); `None` if it is as listed.
    """

    locator: Locator
    lineage: Lineage
    images: tuple[Image, ...]
    store: Mapping[str, str]
    now: float
    probes: Mapping[ShardId, Probe] = field(default_factory=dict)
    foreseen: Foreseen | None = None
