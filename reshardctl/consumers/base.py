"""What a consumer is to the rest of the tool: four pure questions and an encoding.

Nothing outside a consumer's folder knows how its store spells a place. `BaseConsumer` has an answer
for whatever most libraries have in common, so that a library's class shows what is special about
it. Parameters are positional: a library assigns its own functions, `replay = staticmethod(replay)`,
and names its own types in them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from reshardctl.consumers.sequence_numbers import earlier_incarnation, of_wrong_stream
from reshardctl.consumers.spec import Options, Spec
from reshardctl.errors import UsageError, WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Anomaly,
    Frontier,
    Image,
    ShardId,
    SideTable,
    Simulation,
    Step,
    Stream,
    TargetFrontier,
    canonical,
    decode,
)
from reshardctl.model.trees import Select

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
class ShardOwner:
    """Who holds a shard's row. owner: "" for nobody. sign: changes while its owner lives.

    position: as the store spells it, whole; finished: whether it marks the end.
    """

    owner: str
    sign: str
    position: str
    finished: bool = False


@dataclass(frozen=True, slots=True)
class EnabledState:
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

    app: object
    options: Mapping[str, str]
    note: str = ""
    defaults: Mapping[str, str] = field(default_factory=dict)


C = TypeVar("C")
"""A library's own parsed form of its rows, opaque to everyone else."""
A = TypeVar("A")
"""One reading of what no store holds: a release, a start mode, and what else decides a start."""


class BaseConsumer(ABC, Generic[C, A]):
    """One library."""

    spec: ClassVar[Spec]

    def for_options(self, _options: Options, _medium: str = "", /) -> Self:
        """The same consumer for a locator with these options: those of them that decide which
        rows are its own. medium: where a library reads the same row differently from another store.
        Raises UsageError for one that cannot be."""
        return self

    def validate_options(self, options: Options, /) -> None:
        """Raises UsageError for options that it does not take or cannot read, by the applications
        that they leave possible on an empty store. Asked before anything is called."""
        self.candidates(self.parse(()), options)

    def side_tables(self, _target: str, /) -> Sequence[SideTable]:
        """Other tables of the application whose store is `target`, to be read where they are."""
        return ()

    def files(self) -> Select | None:
        """Which files of a tree have to be seen; `None` for a library that keeps none."""
        return None

    def unnamed(self, _image: Image, _name: Callable[[str], str], /) -> Image | None:
        """A row without names, where those are inside of texts; `None` where they are in keys and
        attributes alone. name: a text → what stands for it."""
        return None

    # What is stored

    @abstractmethod
    def parse(self, images: Iterable[Image], stream: Stream | None = None, /) -> C:
        """Rows plus side state; foreign rows and those of other streams kept apart.

        stream: whose rows are judged; `None` where the store can hold one stream only. Raises
        UsageError for a wrong store, WrongStream for one that holds other streams only.
        """

    @abstractmethod
    def shard_of(self, key: str, /) -> ShardId:
        """The shard whose place the row with this key holds; MANY where it holds several."""

    @abstractmethod
    def empty(self, checkpoint: C, /) -> bool:
        """Whether no position is stored."""

    @abstractmethod
    def positions(self, checkpoint: C, /) -> Mapping[ShardId, str]:
        """Every stored position as it is spelled, for display."""

    def positions_of_many(self, _image: Image, _stream: Stream, /) -> Mapping[ShardId, str]:
        """The positions, as spelled, in a row that holds those of many shards."""
        return {}

    def others(self, _checkpoint: C, /) -> Mapping[str, str]:
        """Rows of other applications in the same store: key → whose it is, as a locator says it."""
        return {}

    @abstractmethod
    def anomalies(self, lineage: Lineage, checkpoint: C, /) -> Sequence[Anomaly]:
        """Everything odd about the rows, apart from where they stand."""

    # Whose it is

    def incarnation(self, lineage: Lineage, checkpoint: C, /) -> Incarnation:
        """Which stream of this name the rows belong to, by the times and ranges of their numbers.

        Raises WrongStream where a younger number fits no shard of this stream.
        """
        texts = self.texts(checkpoint)
        numbers = {shard: text for shard, text in texts.items() if decode(text)}
        if (wrong := self.of_wrong_stream(lineage, numbers)) is not None:
            raise self.wrong_stream(
                checkpoint, wrong,
                f"{texts[wrong]} is no number of stream {lineage.stream.name}, and younger than it",
            )
        if not numbers:
            return Incarnation.AMBIGUOUS
        older = all(earlier_incarnation(lineage, text) for text in numbers.values())
        return Incarnation.RECREATED if older else Incarnation.SAME

    def texts(self, checkpoint: C, /) -> Mapping[ShardId, str]:
        """Every stored position, without what a library shows beside or around a number."""
        return self.positions(checkpoint)

    def of_wrong_stream(
        self, lineage: Lineage, numbers: Mapping[ShardId, str], /
    ) -> ShardId | None:
        """A row whose number is of a younger stream, where no row's number is of this one."""
        return of_wrong_stream(lineage, numbers)

    def wrong_stream(self, _checkpoint: C, shard: ShardId, why: str, /) -> WrongStream:
        """The error for a store that is another stream's. why: what is wrong with this shard's
        number."""
        return WrongStream(
            f"{shard}: {why}: its store belongs to another stream",
            "name that stream with --stream, or the right store",
        )

    # What it does at its next start

    @abstractmethod
    def candidates(self, checkpoint: C, options: Options, /) -> Sequence[Candidate]:
        """Every application that may start on it, given what the operator said of it."""

    @abstractmethod
    def processed(self, lineage: Lineage, checkpoint: C, app: A, /) -> Frontier:
        """What is processed, for every listed shard and every row."""

    @abstractmethod
    def simulate_start(self, lineage: Lineage, checkpoint: C, app: A, /) -> Simulation:
        """What it will do when it starts."""

    # What is to be written

    @abstractmethod
    def encode(
        self,
        lineage: Lineage,
        checkpoint: C,
        want: TargetFrontier,
        app: A,
        leave: Collection[ShardId],
        /,
    ) -> list[Step] | Cannot:
        """Writes after which it reads from the line. May round a cut down, never up."""

    @abstractmethod
    def bootstrap(self, lineage: Lineage, want: TargetFrontier, app: A, /) -> list[Step]:
        """First positions for a consumer that is declared new. Raises UsageError where it cannot be
        begun at that line."""

    def rebuild(
        self, lineage: Lineage, _checkpoint: C, want: TargetFrontier, app: A, /
    ) -> list[Step] | Cannot:
        """The whole line for a store that is empty, for it has lost what it held: as for a new
        application."""
        try:
            return self.bootstrap(lineage, want, app)
        except UsageError as error:
            return Cannot(error.what, (error.next,))

    def holds_parts(self, _app: A, /) -> bool:
        """Whether its positions may lie inside a record that is several."""
        return False

    def check_sink(self, _options: Options, _sink: str, _newest: int | None, /) -> None:
        """Raises Refused where a rebuilt store would not go on with its sink.

        newest: the last batch in the sink's log, `None` where it has none.
        """

    # What a proof rests on, and whether the consumer runs

    def footprint(self, image: Image, /) -> Mapping[str, object]:
        """What of a row a proof rests on: no counters that move by themselves."""
        item = canonical(image.attributes)
        return {name: item[name] for name in self.spec.rests_on if name in item}

    @abstractmethod
    def family(self, lineage: Lineage, keys: Collection[str], /) -> Collection[str]:
        """Keys of all rows that the proof of writes to these rows has looked at."""

    def watch_needed(self, _options: Options, /) -> float:
        """Seconds of silence, at least, that show that an application with these options is
        stopped. 0 where no silence does."""
        return self.spec.least_watch

    def signs_of_life(self, _images: Iterable[Image], /) -> Mapping[str, str]:
        """What moves while it runs: row → a token that changes."""
        return {}

    def owners_by_shard(self, checkpoint: C, /) -> Mapping[ShardId, ShardOwner]:
        """Who holds what, by shard: two of them tell what a running consumer did meanwhile. By
        default nobody's name is stored, and where a shard stands is its sign."""
        return {
            shard: ShardOwner("", text, text) for shard, text in self.positions(checkpoint).items()
        }

    @abstractmethod
    def excluded_by(self, seconds: float, /) -> str:
        """What a watch of so many seconds without a sign rules out, in words."""

    def superseded_rows(
        self, _images: Iterable[Image], _keys: Collection[str], /
    ) -> Mapping[str, str]:
        """Those of these rows that it has gone past, and how: no undo takes them back any more,
        though nothing in them has changed. key → why. By default a library writes whatever it goes
        past into the row itself."""
        return {}

    def enabled_state(self, _images: Sequence[Image], /) -> EnabledState | None:
        """How it is switched in its store; `None` where these rows say nothing of it, or where it
        would not matter."""
        return None


Consumer: TypeAlias = BaseConsumer[Any, Any]
"""Any library, whose checkpoints and applications are its own affair."""
