"""What is wrong with a stored row, apart from its position."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reshardctl.model.shards import ShardId


class AnomalyKind(StrEnum):
    """The kinds of anomaly that rules know."""

    UNREADABLE = "unreadable"
    UNREADABLE_TO_SOME = "unreadable-to-some"
    """Some releases of the consumer cannot read the row; the simulation says which."""
    NOT_KEPT = "not-kept"
    """The consumer reads the row, and cannot save a later position there."""
    FOREIGN_ENTRY = "foreign-entry"
    PENDING = "pending"
    HAND_OFF = "hand-off"
    END_WITH_SUB = "end-with-sub"
    PARENTS_UNREADABLE = "parents-unreadable"
    GONE = "gone"
    UNBORN = "unborn"
    CLEANED_OR_LOST = "cleaned-or-lost"
    """A closed shard has no row while its children have progress, and a lost row looks the same."""
    EARLIER_INCARNATION = "earlier-incarnation"
    EARLIER_STREAM = "earlier-stream"
    LEADER_LEFT = "leader-left"
    UNREADABLE_STORE = "unreadable-store"


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One anomaly. key: of the row. raw: the stored text. why: what is wrong with it."""

    kind: AnomalyKind
    key: str
    raw: str
    why: str
    shard: ShardId | None = None
