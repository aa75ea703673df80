"""The interface of a consumer: four pure questions and an encoding.

Nothing outside a consumer's folder knows how its store spells a position. `BaseConsumer` answers
what most libraries have in common, so that a library's class shows only what is special about it.
Parameters are positional: a library assigns its own functions, `parse = staticmethod(parse)`, and
names its own types in them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from msgspec import Struct, field

from reshardctl.consumers.options import times_of_option
from reshardctl.consumers.sequence_numbers import (
    earlier_incarnation,
    of_wrong_stream,
    spelled_cut,
    unborn,
    written_at,
)
from reshardctl.consumers.spec import Options, Spec
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Anomaly,
    Cut,
    Frontier,
    Image,
    Rank,
    ShardId,
    SideTable,
    Simulation,
    Step,
    Stream,
    TargetFrontier,
    Write,
    canonical,
)
from reshardctl.model.files import Select

MANY = ShardId("")
"""The shard id of a row that holds the positions of several shards."""


class Incarnation(Enum):
    """Which stream of this name the positions belong to."""

    SAME = "same"
    RECREATED = "recreated"
    """Every decodable position is older than the stream."""
    AMBIGUOUS = "ambiguous"
    """No position can be decoded."""


class Contradiction(Enum):
    """What a row says, its number aside, that the listing does not; follows "a row"."""

    NEVER_HAD = "of a shard that it never had"
    OPEN = "at the end of a shard that is open"
    OTHERWISE = "with other parents or hash keys than its shard's"


class Cannot(Struct, frozen=True):
    """A target frontier that this consumer cannot hold, with the reason and the ways out.

    Attributes:
        why: The reason.
        ways_out: What the operator can do instead.
        in_doubt: Shards of which a read would show whether anything is left in them.
        by_reading: The one of `ways_out` that is such a read.
        apart: The shards that stand in the way, each with its own reason, if what is wanted of the
            others can be held without them; empty if it cannot.
        others: The writes that hold what is wanted of the others. What the rows prove of those that
            stand in the way is in the rows after them, too.
    """

    why: str
    ways_out: tuple[str, ...] = ()
    in_doubt: tuple[ShardId, ...] = ()
    by_reading: str = ""
    apart: Mapping[ShardId, Cannot] = field(default_factory=dict)
    others: tuple[Step, ...] = ()


class ShardOwner(Struct, frozen=True):
    """Who owns a shard's row.

    Attributes:
        owner: The owner's name, "" for nobody.
        sign: A token that changes while the owner runs.
        position: The position as the store spells it.
        finished: Whether the position marks the shard's end.
    """

    owner: str
    sign: str
    position: str
    finished: bool = False


class Worker(Struct, frozen=True):
    """A process of the application that the store names in a row of its own.

    Attributes:
        name: As the rows of shards name their owner.
        seen: When it last gave a sign of life there, in Unix seconds; `None` if no row says so.
        leads: Whether it holds the leader's lock.
        lock: Seconds for which that lock holds after it was last renewed, `None` if not known.
    """

    name: str
    seen: float | None = None
    leads: bool = False
    lock: float | None = None


class WorkerLimit(Struct, frozen=True):
    """How many leases a worker may hold at most, and how many there are.

    Finished leases count, and those of other streams in the same table.

    Attributes:
        most: Leases of one worker.
        held: Worker → how many it holds.
        leases: How many there are in all.
    """

    most: int
    held: Mapping[str, int]
    leases: int


class Migration(Struct, frozen=True):
    """A step of the application from one way to keep its state to another.

    Attributes:
        name: One word, the same for all of its states.
        what: What follows the word "migration".
        state: As the store spells it, "" where none is stored.
        next: What has to happen next, "" if it is over.
        since: Unix seconds at which the state was reached, `None` if that is not stored.
        by: The worker that set it, "" if that is not stored.
    """

    name: str
    what: str
    state: str
    next: str
    since: float | None = None
    by: str = ""


class EnabledState(Struct, frozen=True):
    """Whether a consumer is switched off in its own store; every value is text for the operator.

    Attributes:
        on: What is switched on.
        off: What is switched off.
        excluded: What a watch without a change then proves.
        refusal: Why nothing is written while something is on.
        next: How to switch it off.
    """

    on: tuple[str, ...]
    off: tuple[str, ...]
    excluded: str
    refusal: str
    next: str


class Candidate(Struct, frozen=True):
    """One reading of what no store holds.

    Attributes:
        app: The application, in the library's own type.
        options: Options that distinguish this candidate from the others.
        note: What an operator must know of the judgement, e.g. that another release stands in.
        defaults: Option → the library's value where the application sets none.
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
    """One library; the methods below are the questions that the other rooms ask of it."""

    spec: ClassVar[Spec]
    at_once: ClassVar[int] = 1
    """Rows of one family that its store writes in one transaction, where plans need that."""

    def for_options(self, _options: Options, _medium: str = "", /) -> Self:
        """The consumer for a locator's options and medium; UsageError for contradictory ones."""
        return self

    def validate_options(self, options: Options, /) -> None:
        """Raises UsageError for unknown, unreadable or contradictory options, before any read."""
        self.candidates(self.parse(()), options)

    def start_times(self, options: Options, /) -> Mapping[str, float]:
        """Times at which the options start shards: the option as it was given → Unix seconds."""
        return times_of_option(options, "initial")

    def side_tables(self, _target: str, /) -> Sequence[SideTable]:
        """Other tables of the application whose store is `target`, to be read where they exist."""
        return ()

    def files(self) -> Select | None:
        """Which files of a tree have to be read; `None` for a library that keeps none."""
        return None

    def redact(self, _image: Image, _name: Callable[[str], str], /) -> Image | None:
        """A row with names in its texts replaced by `name`; `None` where texts hold no names."""
        return None

    # What is stored

    @abstractmethod
    def parse(self, images: Iterable[Image], stream: Stream | None = None, /) -> C:
        """Parse rows and side state; foreign rows and those of other streams are kept apart.

        stream: whose rows are judged; `None` where the store can hold one stream only. Raises
        UsageError for a wrong store, WrongStream for one that holds other streams only.
        """

    def parse_again(self, images: Iterable[Image], stream: Stream | None, _before: C, /) -> C:
        """Parse rows most of which are the same images as those of an earlier checkpoint.

        A library that keeps a row for every shard takes the parsed ones over.
        """
        return self.parse(images, stream)

    @abstractmethod
    def shard_of(self, key: str, /) -> ShardId:
        """The shard whose position the row with this key holds; MANY where it holds several."""

    @abstractmethod
    def empty(self, checkpoint: C, /) -> bool:
        """Whether no position is stored."""

    @abstractmethod
    def positions(self, checkpoint: C, /) -> Mapping[ShardId, str]:
        """Every stored position as spelled, for display."""

    def positions_of_many(self, _image: Image, _stream: Stream, /) -> Mapping[ShardId, str]:
        """The positions, as spelled, in a row that holds those of many shards."""
        return {}

    def stored_cuts(self, lineage: Lineage, checkpoint: C, _app: A, /) -> Mapping[ShardId, Cut]:
        """The cut that every stored position spells, whatever it proves.

        A position that names no place of its shard is missing: text that the library cannot read,
        and a number that no record of the shard has.
        """
        texts = self.positions(checkpoint).items()
        cuts = {shard: spelled_cut(lineage, shard, text) for shard, text in texts}
        return {shard: cut for shard, cut in cuts.items() if cut is not None}

    def others(self, _checkpoint: C, /) -> Mapping[str, str]:
        """Rows of other applications in the same store: key → owner, as a locator would name it."""
        return {}

    @abstractmethod
    def anomalies(self, lineage: Lineage, checkpoint: C, /) -> Sequence[Anomaly]:
        """All anomalies of the rows, apart from where they stand."""

    # Whose it is

    def incarnation(self, lineage: Lineage, checkpoint: C, /) -> Incarnation:
        """The stream to which the rows belong; raises WrongStream if it is another."""
        texts = self.texts(checkpoint)
        numbers = {s: text for s, text in texts.items() if written_at(lineage, text) is not None}
        if (wrong := self.of_wrong_stream(lineage, numbers)) is not None:
            raise self.wrong_stream(
                checkpoint, wrong,
                f"{texts[wrong]} is no number of stream {lineage.stream.name}",
            )
        if not numbers:
            return Incarnation.AMBIGUOUS
        older = all(earlier_incarnation(lineage, text) for text in numbers.values())
        return Incarnation.RECREATED if older else Incarnation.SAME

    @abstractmethod
    def texts(self, checkpoint: C, /) -> Mapping[ShardId, str]:
        """Every stored position, without what a library shows beside or around a number."""

    def of_wrong_stream(
        self, lineage: Lineage, numbers: Mapping[ShardId, str], /
    ) -> ShardId | None:
        """A row with a number of a younger stream, if no row has a number of this stream."""
        return of_wrong_stream(lineage, numbers)

    def contradictions(
        self, lineage: Lineage, checkpoint: C, app: A, /
    ) -> dict[ShardId, Contradiction]:
        """The rows that, their numbers aside, say what the listing does not."""
        found = {
            shard: Contradiction.NEVER_HAD for shard in self.positions(checkpoint)
            if unborn(lineage, shard)
        }
        return found | {
            shard: Contradiction.OPEN
            for shard, cut in self.stored_cuts(lineage, checkpoint, app).items()
            if cut.rank is Rank.DONE and shard in lineage and lineage.is_open(shard)
        }

    def caveats(self, _checkpoint: C, /) -> Iterable[str]:
        """What its reader has to know of a forecast for these rows, whatever is wrong with them."""
        return ()

    @abstractmethod
    def wrong_stream(self, checkpoint: C, shard: ShardId, why: str, /) -> WrongStream:
        """The error for another stream's store. why: what is wrong with this shard's number."""

    # What it does at its next start

    @abstractmethod
    def candidates(self, checkpoint: C, options: Options, /) -> Sequence[Candidate]:
        """Every application that may start on the checkpoint, given the operator's options."""

    @abstractmethod
    def processed(self, lineage: Lineage, checkpoint: C, app: A, /) -> Frontier:
        """How far each listed shard, and each row's shard, has been processed."""

    @abstractmethod
    def simulate_start(self, lineage: Lineage, checkpoint: C, app: A, /) -> Simulation:
        """What the application will do at its next start."""

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
        """Writes after which it reads from the frontier; may round cuts down, not up."""

    @abstractmethod
    def bootstrap(self, lineage: Lineage, want: TargetFrontier, app: A, /) -> list[Step] | Cannot:
        """First positions for a new application."""

    def rebuild(
        self, lineage: Lineage, _checkpoint: C, want: TargetFrontier, app: A, /
    ) -> list[Step] | Cannot:
        """Positions for a store that lost its own; by default those of a new application."""
        return self.bootstrap(lineage, want, app)

    def holds_parts(self, _app: A, /) -> bool:
        """Whether a position may lie inside an aggregated record."""
        return False

    def check_sink(self, _options: Options, _sink: str, _newest: int | None, /) -> None:
        """Raises Refused if a rebuilt store would not continue with its sink's batch `newest`."""

    # What a proof rests on, and whether the consumer runs

    def footprint(self, image: Image, /) -> Mapping[str, object]:
        """The attributes of a row that a proof rests on, without counters that move alone."""
        item = canonical(image.attributes)
        return {name: item[name] for name in self.spec.rests_on if name in item}

    @abstractmethod
    def family(self, lineage: Lineage, keys: Collection[str], /) -> Collection[str]:
        """Keys of all rows that the proof of writes to these rows depends on."""

    def title(self, _writes: Sequence[Write], /) -> str:
        """A step's title, which names the rows that it writes; "" where titles do not."""
        return ""

    def watch_needed(self, _options: Options, /) -> float:
        """Seconds without a change that prove the application stopped; 0 where none prove it."""
        return self.spec.least_watch

    def signs_of_life(self, _images: Iterable[Image], /) -> Mapping[str, str]:
        """What changes while the application runs: row → a token."""
        return {}

    def owners_by_shard(self, checkpoint: C, /) -> Mapping[ShardId, ShardOwner]:
        """The owner of each shard's row; by default nobody, with the position as its sign."""
        return {
            shard: ShardOwner("", text, text) for shard, text in self.positions(checkpoint).items()
        }

    def workers(self, _checkpoint: C, /) -> Sequence[Worker]:
        """The processes that have rows of their own, with shards or without."""
        return ()

    def worker_limit(self, _checkpoint: C, _options: Options, /) -> WorkerLimit | None:
        """How many leases a worker may hold; `None` if no option says so."""
        return None

    def migrations(self, _checkpoint: C, /) -> Sequence[Migration]:
        """The migrations of the application's own state that have begun."""
        return ()

    def saved_at(self, _checkpoint: C, /) -> Mapping[ShardId, float]:
        """When each shard's position was last saved, in Unix seconds, where the store says so."""
        return {}

    @abstractmethod
    def excluded_by(self, seconds: float, /) -> str:
        """What a watch of `seconds` without a change rules out, as text."""

    def superseded_rows(
        self, _images: Iterable[Image], _keys: Collection[str], _stood: Collection[str], /
    ) -> Mapping[str, str]:
        """Rows that undo cannot restore because the application went past them: key → reason.

        _keys: the rows that the fix wrote. _stood: rows beside them that were there before it.
        """
        return {}

    def enabled_state(self, _images: Sequence[Image], /) -> EnabledState | None:
        """Whether the consumer is switched off; `None` where the rows do not say."""
        return None


Consumer: TypeAlias = BaseConsumer[Any, Any]
"""Any library, whose checkpoints and applications are its own affair."""
