"""Samples of the tables of an account that may hold positions, and whose numbers are in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reshardctl.at_once import at_once
from reshardctl.commands.connect import catalog_of
from reshardctl.commands.observer import Observer
from reshardctl.commands.places import region_set
from reshardctl.commands.requests import Account
from reshardctl.consumers.locator import library_of, parse
from reshardctl.consumers.sequence_numbers import Origin, origin, sample, to_verify
from reshardctl.consumers.spec import Spec
from reshardctl.diagnosis.discovery import Table, numbers_in, own_rows
from reshardctl.errors import CannotTell, ReshardError, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import Image, decode
from reshardctl.snapshot.take import streams_of

if TYPE_CHECKING:
    from reshardctl.config.entries import Consumer
    from reshardctl.kinesis import Kinesis
    from reshardctl.stores.dynamodb.catalog import Catalog

QUESTIONS = 5
"""Numbers of a table about which Kinesis is asked. Five iterators a second may be made of a shard,
and the consumers of the stream make theirs."""
QUESTIONS_IN_ALL = 100


class Sample(Struct, frozen=True):
    """Rows of a table. place: how it is reached."""

    name: str
    library: Spec
    rows: Sequence[Image]
    place: Account
    region: str
    tables: Collection[str]
    """All that are there."""

    def numbers(self, lineage: Lineage) -> Iterator[str]:
        """The sequence numbers in its rows of this stream, as far as keys tell."""
        return numbers_in(own_rows(self.library, self.rows, lineage))

    @property
    def locator(self) -> str:
        """How a command names it; `app=` is missing where the table is of several applications."""
        scheme, ending = self.library.table_scheme, self.library.table_ending
        return f"{scheme}://{self.name.removesuffix(ending)}"

    def unreadable(self, table: Table) -> str:
        """Why no command can read a table of the sample, "" where one can."""
        if not table.locator:
            ending = self.library.table_ending
            return f"its name is not that of an application, followed by {ending}"
        try:
            locator = parse(table.locator)
        except UsageError as error:
            return error.what
        beside = [shape.name for shape in self.library.tables(locator.target, locator.options)]
        if missing := [name for name in beside if name not in self.tables]:
            return f"there is no table {' and no table '.join(missing)}"
        return ""

    def entries(self, consumers: Iterable[tuple[Consumer, Account]]) -> Iterator[Consumer]:
        """Those of these consumers of reshardctl.toml whose positions the table holds.

        consumers: each with how its table is reached.
        """
        for entry, reached in consumers:
            if (
                entry.locator.spec.name == self.library.name
                and entry.locator.target == self.name.removesuffix(self.library.table_ending)
                and (reached.profile, reached.role) == (self.place.profile, self.place.role)
                and region_set(reached) == self.region
            ):
                yield entry

    def configured(
        self, table: Table, consumers: Iterable[tuple[Consumer, Account]]
    ) -> Consumer | None:
        """Which of these consumers an application of the table is; as `entries`."""
        options = parse(table.locator).options
        return next(
            (entry for entry in self.entries(consumers)
             if options.items() <= entry.locator.options.items()), None,
        )


class Samples(Struct, frozen=True):
    """The tables that may hold positions.

    Attributes:
        looked: Number of all tables.
        unread: Table → why it was not read.
        regions: Where they are.
    """

    tables: Sequence[Sample]
    looked: int
    unread: tuple[tuple[str, str], ...]
    regions: tuple[str, ...]


def samples_of(places: Sequence[Account], observer: Observer) -> Samples:
    """Looks at every table of these places, each region once.

    Raises CannotTell where the tables cannot be listed.
    """
    from reshardctl.aws.client import CONNECTIONS

    samples: list[Sample] = []
    unread: list[tuple[str, str]] = []
    looked = 0
    searched: dict[tuple[str, str | None, str | None], None] = {}
    for place in places:
        catalog = catalog_of(place)
        where = (catalog.region, place.profile, place.role)
        if where in searched:
            continue
        searched[where] = None
        names = list(catalog.names())
        looked += len(names)
        observer.phase(f"looking at {len(names)} tables")
        jobs = [_looking(catalog, name, place, names) for name in names]
        for name, outcome in zip(names, at_once(jobs, CONNECTIONS), strict=True):
            if isinstance(outcome, Sample):
                samples.append(outcome)
            elif isinstance(outcome, ReshardError) and not isinstance(outcome, UsageError):
                unread.append((name, outcome.what))  # UsageError: it was deleted meanwhile.
    regions = tuple(dict.fromkeys(region for region, *_ in searched))
    return Samples(samples, looked, tuple(unread), regions)


def _looking(
    catalog: Catalog, name: str, place: Account, names: Collection[str]
) -> Callable[[], Sample | None]:
    def look() -> Sample | None:
        key, units = catalog.described(name)
        library = library_of(key)
        if library is None:
            return None
        rows = catalog.sample(name, key, units)
        return Sample(name, library, rows, place, catalog.region, names)

    return look


def told(
    kinesis: Kinesis, stream: str, lineage: Lineage, samples: Sequence[Sample]
) -> tuple[Lineage, tuple[str, ...]]:
    """The listing with Kinesis's word on numbers that nothing else proves, and notes.

    An answer holds for its epoch, so few suffice for all tables of another stream's applications.
    """
    time = lineage.stream.as_of
    answered: dict[int, bool] = {}
    for one in samples:
        unproven = to_verify(lineage, one.numbers(lineage))
        numbers = sample(unproven, QUESTIONS)
        if len(answered) + len(numbers) > QUESTIONS_IN_ALL:
            return lineage, (
                f"not every number is verified: Kinesis was asked about {len(answered)}",
            )
        try:
            answers = kinesis.takes(stream, numbers, one.library.iterator)
        except CannotTell as error:
            return lineage, (f"not every number is verified: {error.what}",)
        answered |= {number: answer for number, answer in answers.items() if answer is not None}
        lineage = lineage.as_of(time, dict(answered))
        if None in answers.values():
            return lineage, (
                "not every number is verified: that takes kinesis:GetShardIterator",
            )
    return lineage, ()


def verified(
    kinesis: Kinesis, stream: str, lineage: Lineage, samples: Sequence[Sample]
) -> tuple[Lineage, Mapping[int, tuple[str, ...]], tuple[str, ...]]:
    """As `told`, and which other streams of the account foreign numbers are of.

    The second value is that of `streams_of`.
    """
    lineage, notes = told(kinesis, stream, lineage, samples)
    open_ones = (
        (fields.epoch, int(text)) for one in samples for text in one.numbers(lineage)
        if origin(lineage, text) is not Origin.OWN and (fields := decode(text)) is not None
    )
    born = streams_of(lineage, kinesis, dict(open_ones)) or {}
    lineage = lineage.as_of(lineage.stream.as_of, lineage.taken, born)
    if any(origin(lineage, text) is Origin.ELSEWHERE and fields.epoch not in born
           for one in samples for text in one.numbers(lineage) if (fields := decode(text))):
        notes += (
            "numbers that are not this stream's are of no other one of this account and region, "
            "as far as kinesis:ListStreams and kinesis:GetShardIterator are allowed",
        )
    return lineage, born, notes
