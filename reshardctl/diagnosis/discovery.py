"""Judges from a sample of a table's rows whose positions it holds.

That a number lies between the first and the last of its shard proves nothing: numbers of a younger
stream do, too. So a table counts as this stream's only with a number that is proven to be its own,
see `consumers.sequence_numbers.Origin`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.consumers.sequence_numbers import Origin, born_later, origin
from reshardctl.consumers.spec import Spec
from reshardctl.lineage import Lineage
from reshardctl.model import Image, decode, is_number
from reshardctl.model.phrases import listed

NAMED = 3
"""Streams that a sentence names before it says how many more there are."""
Names = tuple[str, ...]
"""The stream that numbers are of; several that they may be of, created in the same second."""


class Confidence(IntEnum):
    """How certain it is that the positions are this stream's."""

    NONE = 0
    """None of them is known to be, see `Holding`."""
    POSSIBLE = 1
    """Nothing proves it: shards of these ids are in the stream, as in many others, or its numbers
    could not be verified."""
    LIKELY = 2
    """Kinesis takes a number of it."""
    STRONG = 3
    """A number has the very second at which its shard began or ended, as a number of a stream
    created in the same second would."""
    CERTAIN = 4
    """The keys name the stream."""

    def __str__(self) -> str:
        return self.name.lower()


class Holding(Enum):
    """What a table holds that is not known to hold any position of this stream."""

    NOTHING = "empty"
    EARLIER = "earlier"
    """Numbers older than this stream: an earlier stream's of this name, or another's."""
    OTHERS = "others"
    """Numbers that are not this stream's, or keys that name others."""
    UNKNOWN = "unknown"
    """No number, and no shard of this stream."""


class Evidence(Struct, frozen=True):
    """What a sample shows.

    Attributes:
        rows: Rows of this stream, as far as keys tell.
        others: Rows whose keys name others.
        numbers: The sequence numbers in `rows`, each with whose it is.
        taken: How many of them are this stream's own because Kinesis takes them.
        known: Rows that name a shard of the stream.
        named: Whether keys name the stream.
        alike: Names of streams of which its numbers might be as well: they were created in the same
            second, and none of the numbers is of a later shard.
        theirs: Whether a number is of a later shard of one of them, so that all may be.
    """

    rows: int
    others: int
    numbers: Mapping[str, Origin]
    taken: int
    known: int
    named: bool
    alike: tuple[str, ...] = ()
    theirs: bool = False

    def count(self, *origins: Origin) -> int:
        """How many numbers are of such origin."""
        return sum(whose in origins for whose in self.numbers.values())

    @property
    def exact(self) -> int:
        """How many numbers carry the second at which their shard began or ended."""
        return self.count(Origin.OWN) - self.taken

    @property
    def foreign(self) -> list[str]:
        """The numbers that are not this stream's."""
        theirs = (Origin.EARLIER, Origin.ELSEWHERE)
        return [text for text, whose in self.numbers.items() if whose in theirs]

    @property
    def shared(self) -> bool:
        """Whether numbers of this stream and of another, younger one are in the same rows."""
        return not self.theirs and bool(self.count(Origin.OWN) and self.count(Origin.ELSEWHERE))

    @property
    def confidence(self) -> Confidence:
        """How certain the sample makes it."""
        if self.theirs or (not self.count(Origin.OWN) and self.foreign):
            return Confidence.NONE
        if self.named:
            return Confidence.CERTAIN
        if self.alike:
            return Confidence.POSSIBLE
        if self.exact:
            return Confidence.STRONG
        if self.taken:
            return Confidence.LIKELY
        possible = self.known or self.count(Origin.UNPROVEN)
        return Confidence.POSSIBLE if possible else Confidence.NONE

    @property
    def holding(self) -> Holding:
        """What the table holds, where the confidence is `NONE`."""
        if not self.rows:
            return Holding.OTHERS if self.others else Holding.NOTHING
        if not self.foreign:
            return Holding.UNKNOWN
        return Holding.OTHERS if self.count(Origin.ELSEWHERE) else Holding.EARLIER

    def sentence(self, streams: Mapping[Names, int] = MappingProxyType({})) -> str:
        """The evidence, as a sentence. streams: how many of the foreign numbers are whose."""
        if not self.rows:
            return (
                f"its rows ({self.others} in the sample) name other streams" if self.others
                else "the table is empty"
            )
        return "; ".join([*self._own(), *self._not_own(streams)])

    def _own(self) -> Iterator[str]:
        of = f"of {_counted(len(self.numbers))}"
        if self.named:
            yield f"the keys of its rows ({self.rows} in the sample) name the stream"
        if self.exact:
            verb = "carry" if self.exact > 1 else "carries"
            yield (
                f"{self.exact} {of} {verb} the very second at which a shard of this stream began "
                "or ended"
            )
        if self.taken:
            yield f"Kinesis takes {self.taken} {of}"
        if self.alike and self.exact and not self.named:
            one = len(self.alike) == 1
            whose = "" if self.theirs else f": it may be of {'either' if one else 'any of them'}"
            yield (
                f"numbers of {'stream' if one else 'streams'} {listed(self.alike, NAMED)}, created "
                f"in the same second, look the same{whose}"
            )
        if not self.numbers and self.known and not self.named:
            yield (
                f"no sequence number tells; shards that {self.known} of its rows name are in this "
                "stream, as in many others"
            )
        if not self.numbers and not self.known:
            yield "no number and no shard of this stream"

    def _not_own(self, streams: Mapping[Names, int]) -> Iterator[str]:
        of = f"of {_counted(len(self.numbers))}"
        earlier, elsewhere = self.count(Origin.EARLIER), self.count(Origin.ELSEWHERE)
        unproven = self.count(Origin.UNPROVEN)
        if earlier:
            whose = "" if streams else ": an earlier stream's of this name, or another's"
            yield f"{earlier} {of} {_are(earlier)} older than this stream{whose}"
        if elsewhere:
            whose = "" if streams else " but another's"
            yield f"{elsewhere} {of} {_are(elsewhere)} not this stream's{whose}"
        for names, count in streams.items():
            yield f"{count} {'fit' if count > 1 else 'fits'} stream {' or '.join(names)}"
        if unproven:
            yield f"{unproven} {of} {_are(unproven)} not verified: nothing proves whose"


def _counted(numbers: int) -> str:
    return f"{numbers} sequence number{'s' if numbers != 1 else ''}"


def _are(count: int) -> str:
    return "are" if count != 1 else "is"


class Table(Struct, frozen=True):
    """A table whose key is that of a known library, with the evidence of its sample.

    Attributes:
        options: Those that select one application's rows, as a locator spells them; "" where the
            table is one application's.
        words: Those that name it in a command; none where no command can read it.
        unreadable: Why no command can.
        streams: The account's other streams whose numbers it holds, as far as that is known, with
            how many.
    """

    name: str
    library: Spec
    evidence: Evidence
    region: str = ""
    options: str = ""
    words: tuple[str, ...] = ()
    unreadable: str = ""
    streams: Mapping[Names, int] = field(default_factory=dict)

    @property
    def locator(self) -> str:
        """The locator to use, "" where the table's name cannot be an application's."""
        scheme, ending = self.library.table_scheme, self.library.table_ending
        target = self.name.removesuffix(ending)
        if not self.name.endswith(ending) or not self.library.schemes[scheme].target.match(target):
            return ""
        return f"{scheme}://{target}" + (f"?{self.options}" if self.options else "")

    @property
    def sentence(self) -> str:
        """The evidence, as a sentence."""
        return self.evidence.sentence(self.streams)


class Found(Struct, frozen=True):
    """The result of a search.

    Attributes:
        looked: Number of tables.
        regions: Where they are.
        unread: Table → why it was not read.
        notes: What could not be found out beside that.
    """

    lineage: Lineage
    now: float
    tables: tuple[Table, ...]
    looked: int
    unread: tuple[tuple[str, str], ...] = ()
    regions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def matching(self) -> list[Table]:
        """Tables that may hold this stream's positions, the most certain first, then by name."""
        able = [t for t in self.tables if t.evidence.confidence is not Confidence.NONE]
        return sorted(able, key=lambda t: (-t.evidence.confidence, t.name, t.options))

    def others(self) -> list[Table]:
        """The rest: first those of an earlier stream and the empty ones, which may be this one's.

        They are what a stream that was made again, or a table that was emptied, leaves.
        """
        none = [t for t in self.tables if t.evidence.confidence is Confidence.NONE]
        return sorted(none, key=lambda t: (_ORDER.index(t.evidence.holding), t.name, t.options))


_ORDER = (Holding.EARLIER, Holding.NOTHING, Holding.OTHERS, Holding.UNKNOWN)


def tables_of(
    name: str, library: Spec, rows: Sequence[Image], lineage: Lineage, region: str,
    born: Mapping[int, tuple[str, ...]], alike: Sequence[str] = (),
) -> list[Table]:
    """What a sample of a table says, once for each application that has rows in it.

    born: as `snapshot.take.streams_of` has it. alike: ARNs of the streams that were created in the
    same second.
    """
    applications: dict[str, list[Image]] = {}
    others = []
    for row in rows:
        if library.names_stream(row, lineage.stream) is False:
            others.append(row)
        else:
            whose = library.application(row, lineage.stream)
            applications.setdefault(whose, []).append(row)
    found = []
    for options, own in (applications or {"": []}).items():
        evidence = weigh(library, [*own, *others], lineage)
        epochs = [fields.epoch for text in evidence.foreign if (fields := decode(text))]
        owners = [born[epoch] for epoch in epochs if epoch in born]
        later = any(born_later(lineage, text) for text in evidence.numbers)
        if evidence.numbers and not later and not evidence.named:
            theirs = any({*arns} & {*alike} for arns in owners)
            evidence = replace(evidence, alike=_names(alike), theirs=theirs)
        streams = Counter(map(_names, owners))
        found.append(Table(name, library, evidence, region, options, streams=streams))
    return found


def _names(arns: Iterable[str]) -> Names:
    return tuple(arn.rpartition("/")[2] for arn in arns)


class WhoseTables(Struct, frozen=True):
    """Which of several streams a table's positions are of.

    Attributes:
        own: Each such stream, with what the table shows of it.
        open: Whether it may be of one of them, and nothing tells of which.
        left: What it holds, as a sentence, where it is of none.
    """

    own: tuple[tuple[str, Table], ...]
    open: bool = False
    left: str = ""


def whose_tables(tables: Mapping[str, Sequence[Table]], *, alone: bool) -> WhoseTables:
    """Judge a table against several streams.

    Streams that were made in the same second give out numbers that nothing tells apart: a table
    whose keys name no stream is taken for one of a single stream.

    tables: stream → what the sample shows of it. alone: whether these are all streams there are, so
    that the only one that is possible is taken.
    """
    every = [(stream, table) for stream, found in tables.items() for table in found]
    named = [(s, t) for s, t in every if t.evidence.confidence is Confidence.CERTAIN]
    proven = [(s, t) for s, t in every if t.evidence.confidence >= Confidence.LIKELY]
    possible = [(s, t) for s, t in every if t.evidence.confidence is Confidence.POSSIBLE]
    if named or len(proven) == 1 or (alone and not proven and len(possible) == 1):
        return WhoseTables(tuple(named or proven or possible))
    if proven or possible:
        names = sorted({stream for stream, _ in proven or possible})
        fits = listed(names, NAMED)
        one = f"nothing proves that its positions are of {fits}"
        several = f"{fits}: its rows fit each of them"
        return WhoseTables((), open=True, left=several if len(names) > 1 else one)
    holding = {table.evidence.holding for _, table in every}
    held = next((one for one in _ORDER if one in holding), Holding.UNKNOWN)
    return WhoseTables((), left=_LEFT[held])


_LEFT = {
    Holding.EARLIER: "its sequence numbers are older than the streams that were looked at: "
    "positions of other streams, or of streams that are gone or were made again",
    Holding.NOTHING: "the table is empty",
    Holding.OTHERS: "positions of other streams",
    Holding.UNKNOWN: "no sequence number and no shard of the streams",
}


def weigh(library: Spec, rows: Sequence[Image], lineage: Lineage) -> Evidence:
    """Judge a sample. lineage: as of now, with Kinesis's answers about numbers."""
    own = own_rows(library, rows, lineage)
    ids = _ids(lineage)
    numbers = {text: origin(lineage, text) or Origin.ELSEWHERE for text in numbers_in(own)}
    return Evidence(
        len(own), len(rows) - len(own), numbers,
        sum(lineage.taken.get(int(text), False) for text in numbers),
        sum(bool(_shards(row) & ids) for row in own),
        any(library.names_stream(row, lineage.stream) for row in own),
    )


def own_rows(library: Spec, rows: Iterable[Image], lineage: Lineage) -> list[Image]:
    """The rows of this stream, as far as keys tell."""
    return [row for row in rows if library.names_stream(row, lineage.stream) is not False]


def numbers_in(rows: Iterable[Image]) -> Iterator[str]:
    """Every text or number of the rows that has the form of a sequence number."""
    for row in rows:
        for value in _texts(row.attributes.values()):
            if is_number(value) and decode(value) is not None:
                yield value


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _texts(value.values())
        elif isinstance(value, list):
            yield from _texts(value)


def _shards(row: Image) -> set[str]:
    """The shards that a row names in its key or its attributes."""
    texts = [row.key, *_texts(row.attributes.values())]
    return {text.rpartition(":")[2] for text in texts if "shardId-" in text}


def _ids(lineage: Lineage) -> frozenset[str]:
    return frozenset(str(shard) for shard in lineage)
