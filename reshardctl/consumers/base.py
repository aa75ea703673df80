"""What a consumer is to the rest of the tool: four pure questions and an encoding.

Nothing outside a consumer's folder knows how its store spells a place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from reshardctl.consumers.spec import Spec
from reshardctl.lineage import Lineage
from reshardctl.model import Image, Line, Odd, Replay, ShardId, SideTable, Step, Stream, Wanted

MANY = ShardId("")
"""Stands for the shards of a row that holds the places of several."""


class Incarnation(Enum):
    """Which stream of this name the positions belong to."""

    SAME = "same"
    RECREATED = "recreated"
    """Every decodable position is older than the stream."""
    AMBIGUOUS = "ambiguous"
    """No position can be decoded."""


@dataclass(frozen=True, slots=True)
class Cannot:
    """A line that this consumer cannot hold."""

    why: str
    ways_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hold:
    """Who holds a shard's row. owner: "" for nobody. sign: changes while its owner lives.

    position: as the store spells it, whole; finished: whether it marks the end.
    """

    owner: str
    sign: str
    position: str
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """Whether a consumer is switched off in its own store. on: what is not; off: what is.

    excluded: what a watch without a change then shows. refusal, next: why nothing is written while
    something is on, and how to switch it off. All in words.
    """

    on: tuple[str, ...]
    off: tuple[str, ...]
    excluded: str
    refusal: str
    next: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One reading of what no store holds. `options`: what tells it from the others.

    note: what is to be known of how it is judged, e.g. as another release than the one named.
    defaults: option → what its library takes where the application sets nothing.
    """

    app: Any
    options: Mapping[str, str]
    note: str = ""
    defaults: Mapping[str, str] = field(default_factory=dict)


class Consumer(Protocol):
    """One library. `Checkpoint` is its own parsed form and opaque to everyone else."""

    spec: Spec
    """What other rooms ask of it without reading a row."""

    def bound(self, options: Mapping[str, str], medium: str = "") -> Consumer:
        """The same consumer for a locator with these options: those of them that decide which
        rows are its own. medium: where a library reads the same row differently from another store.
        Raises UsageError for one that cannot be."""

    def understand(self, options: Mapping[str, str]) -> None:
        """Raises UsageError for options that it does not take or cannot read. Asked before
        anything is called."""

    def parse(self, images: Iterable[Image], stream: Stream | None = None) -> Any:
        """Rows plus side state; foreign rows and those of other streams kept apart.

        stream: whose rows are judged; `None` where the store can hold one stream only. Raises
        UsageError for a wrong store, WrongStream for one that holds other streams only.
        """

    def side_tables(self, target: str) -> Sequence[SideTable]:
        """Other tables of the application whose store is `target`, to be read where they are."""

    def shard_of(self, key: str) -> ShardId:
        """The shard whose place the row with this key holds; MANY where it holds several."""

    def empty(self, checkpoint: Any) -> bool:
        """Whether no position is stored."""

    def others(self, checkpoint: Any) -> Mapping[str, str]:
        """Rows of other applications in the same store: key → whose it is, as a locator says it."""

    def positions(self, checkpoint: Any) -> Mapping[ShardId, str]:
        """Every stored position as it is spelled, for display."""

    def odd(self, lineage: Lineage, checkpoint: Any) -> Sequence[Odd]:
        """Everything odd about the rows, apart from where they stand."""

    def incarnation(self, lineage: Lineage, checkpoint: Any) -> Incarnation:
        """Raises WrongStream where a younger number fits no shard of this stream."""

    def candidates(self, checkpoint: Any, options: Mapping[str, str]) -> Sequence[Candidate]:
        """Every application that may start on it, given what the operator said of it."""

    def settled(self, lineage: Lineage, checkpoint: Any, app: Any) -> Line:
        """What is settled, for every listed shard and every row."""

    def replay(self, lineage: Lineage, checkpoint: Any, app: Any) -> Replay:
        """What it will do when it starts."""

    def encode(
        self, lineage: Lineage, checkpoint: Any, want: Wanted, app: Any, leave: Collection[ShardId]
    ) -> list[Step] | Cannot:
        """Writes after which it reads from the line. May round a cut down, never up."""

    def bootstrap(self, lineage: Lineage, want: Wanted, app: Any) -> list[Step]:
        """First positions for a consumer that is declared new."""

    def rebuild(
        self, lineage: Lineage, checkpoint: Any, want: Wanted, app: Any
    ) -> list[Step] | Cannot:
        """The whole line for a store that is empty: it has lost what it held."""

    def footprint(self, image: Image) -> Mapping[str, Any]:
        """What of a row a proof rests on: no counters that move by themselves."""

    def family(self, lineage: Lineage, keys: Collection[str]) -> Collection[str]:
        """Keys of all rows that the proof of writes to these rows has looked at."""

    def watch_needed(self, options: Mapping[str, str]) -> float:
        """Seconds of silence, at least, that show that an application with these options is
        stopped. 0 where no silence does."""

    def signs_of_life(self, images: Iterable[Image]) -> Mapping[str, str]:
        """What moves while it runs: row → a token that changes."""

    def holds(self, checkpoint: Any) -> Mapping[ShardId, Hold]:
        """Who holds what, by shard: two of them tell what a running consumer did meanwhile."""

    def spent(self, images: Iterable[Image], keys: Collection[str]) -> Mapping[str, str]:
        """Those of these rows that it has gone past, and how: no undo takes them back any more,
        though nothing in them has changed. key → why."""

    def switch(self, images: Sequence[Image]) -> Switch | None:
        """How it is switched in its store; `None` where these rows say nothing of it, or where it
        would not matter."""

    def excluded_by(self, seconds: float) -> str:
        """What a watch of so many seconds without a sign rules out, in words."""
