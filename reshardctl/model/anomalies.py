"""What is odd about a stored row, apart from where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reshardctl.model.shards import ShardId


class AnomalyKind(StrEnum):
    """Kinds of oddness that rules know."""

    UNREADABLE = "unreadable"
    UNREADABLE_TO_SOME = "unreadable-to-some"
    """Unreadable to some releases of the consumer: the forecast says to which."""
    FOREIGN_ENTRY = "foreign-entry"
    PENDING = "pending"
    HAND_OFF = "hand-off"
    END_WITH_SUB = "end-with-sub"
    PARENTS_UNREADABLE = "parents-unreadable"
    GONE = "gone"
    UNBORN = "unborn"
    CLEANED_OR_LOST = "cleaned-or-lost"
    """A closed shard has no row, its children have progress, and the library would have started
    them beside a lost row of it too."""
    EARLIER_INCARNATION = "earlier-incarnation"
    EARLIER_STREAM = "earlier-stream"
    LEADER_LEFT = "leader-left"
    UNREADABLE_STORE = "unreadable-store"


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One oddity. `key`: the row's key; `raw`: what stands there; `why`: what is wrong with it."""

    kind: AnomalyKind
    key: str
    raw: str
    why: str
    shard: ShardId | None = None
