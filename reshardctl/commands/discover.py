"""`discover`: lists the tables, checks their keys, and samples those that may hold positions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reshardctl.at_once import at_once
from reshardctl.codec.argv import words
from reshardctl.commands.configured import names, tell_file
from reshardctl.commands.connect import catalog_of, kinesis_of, now
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.places import (
    account_of,
    region_set,
    require_agreeing,
    table_of,
    together,
)
from reshardctl.commands.requests import Account
from reshardctl.commands.target import Selection
from reshardctl.consumers.locator import library_of, parse
from reshardctl.consumers.sequence_numbers import Origin, origin, sample, to_verify
from reshardctl.consumers.spec import Spec
from reshardctl.diagnosis.discovery import (
    Found,
    Table,
    numbers_in,
    own_rows,
    tables_of,
)
from reshardctl.errors import CannotTell, ReshardError, UsageError
from reshardctl.kinesis.target import region_in
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


@dataclass(frozen=True, slots=True)
class DiscoverRequest:
    """Whose tables to look for.

    stream: name, ARN, or a name in reshardctl.toml. account: how AWS is reached. config: the
    configuration file, if it is not the usual one.
    """

    stream: str
    account: Account = field(default_factory=Account)
    config: Path | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a request means. places: how the tables are reached, each region once."""

    stream: str
    account: Account
    places: Sequence[Account]
    consumers: Sequence[tuple[Consumer, Account]] = ()
    """Those of the stream in reshardctl.toml, each with how its table is reached."""
    named_by: tuple[str, ...] = ()
    """The words after such a consumer's name in a command."""


@dataclass(frozen=True, slots=True)
class _Sample:
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


def discover(request: DiscoverRequest, observer: Observer = SILENT) -> Found:
    """The tables that may hold the stream's positions.

    Raises CannotTell if the stream or the tables cannot even be listed.
    """
    from reshardctl.aws.client import CONNECTIONS

    asked = _asked(request, observer)
    kinesis = kinesis_of(asked.account, asked.stream, observer)
    time = now()
    lineage = kinesis.lineage(asked.stream).as_of(time)
    samples: list[_Sample] = []
    unread: list[tuple[str, str]] = []
    looked = 0
    searched: dict[tuple[str, str | None, str | None], None] = {}
    for place in asked.places:
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
            if isinstance(outcome, _Sample):
                samples.append(outcome)
            elif isinstance(outcome, ReshardError) and not isinstance(outcome, UsageError):
                unread.append((name, outcome.what))  # UsageError: it was deleted meanwhile.
    lineage, born, notes = _verified(kinesis, asked.stream, lineage, samples)
    tables = [table for one in samples for table in _judged(one, lineage, asked, born)]
    regions = tuple(dict.fromkeys(region for region, *_ in searched))
    return Found(lineage, time, tuple(tables), looked, tuple(unread), regions, notes)


def _looking(
    catalog: Catalog, name: str, place: Account, names: Collection[str]
) -> Callable[[], _Sample | None]:
    def look() -> _Sample | None:
        key, units = catalog.described(name)
        library = library_of(key)
        if library is None:
            return None
        rows = catalog.sample(name, key, units)
        return _Sample(name, library, rows, place, catalog.region, names)

    return look


def _verified(
    kinesis: Kinesis, stream: str, lineage: Lineage, samples: Sequence[_Sample]
) -> tuple[Lineage, Mapping[int, str], tuple[str, ...]]:
    """The listing with Kinesis's word on numbers that nothing else proves, and whose they are.

    An answer holds for its epoch, so few suffice for all tables of another stream's applications.
    The second value is that of `streams_of`, the last are notes.
    """
    time = lineage.stream.as_of
    told: dict[int, bool] = {}
    notes: tuple[str, ...] = ()
    for one in samples:
        unproven = to_verify(lineage, one.numbers(lineage))
        numbers = sample(unproven, QUESTIONS)
        if len(told) + len(numbers) > QUESTIONS_IN_ALL:
            notes = (f"not every number is verified: Kinesis was asked about {len(told)}",)
            break
        try:
            answers = kinesis.takes(stream, numbers, one.library.iterator)
        except CannotTell as error:
            notes = (f"not every number is verified: {error.what}",)
            break
        told |= {number: answer for number, answer in answers.items() if answer is not None}
        lineage = lineage.as_of(time, dict(told))
        if None in answers.values():
            notes = ("not every number is verified: that takes kinesis:GetShardIterator",)
            break
    open_ones = (
        (fields.epoch, int(text)) for one in samples for text in one.numbers(lineage)
        if origin(lineage, text) is not Origin.OWN and (fields := decode(text)) is not None
    )
    born = streams_of(lineage.stream.arn, kinesis, dict(open_ones)) or {}
    lineage = lineage.as_of(time, told, born)
    if any(origin(lineage, text) is Origin.ELSEWHERE and fields.epoch not in born
           for one in samples for text in one.numbers(lineage) if (fields := decode(text))):
        notes += (
            "numbers that are not this stream's are of no other one of this account and region, "
            "as far as kinesis:ListStreams and kinesis:GetShardIterator are allowed",
        )
    return lineage, born, notes


def _judged(
    one: _Sample, lineage: Lineage, asked: _Asked, born: Mapping[int, str]
) -> list[Table]:
    """What a sample says, with the words that name each table in a command."""
    tables = tables_of(one.name, one.library, one.rows, lineage, one.region, born)
    return [
        replace(table, words=() if why else _words(table, one, lineage, asked), unreadable=why)
        for table in tables for why in (_unreadable(table, one),)
    ]


def _unreadable(table: Table, one: _Sample) -> str:
    """Why no command can read the table, "" where one can."""
    if not table.locator:
        return f"its name is not that of an application, followed by {one.library.table_ending}"
    try:
        locator = parse(table.locator)
    except UsageError as error:
        return error.what
    beside = [shape.name for shape in one.library.tables(locator.target, locator.options)]
    if missing := [name for name in beside if name not in one.tables]:
        return f"there is no table {' and no table '.join(missing)}"
    return ""


def _entry(table: Table, one: _Sample, asked: _Asked) -> Consumer | None:
    """The consumer of the stream in reshardctl.toml whose table it is."""
    locator = parse(table.locator)
    for entry, reached in asked.consumers:
        there = entry.locator
        if (there.medium, there.target) == (locator.medium, locator.target) and (
            locator.options.items() <= there.options.items()
            and (reached.profile, reached.role) == (one.place.profile, one.place.role)
            and region_set(reached) == one.region
        ):
            return entry
    return None


def _words(table: Table, one: _Sample, lineage: Lineage, asked: _Asked) -> tuple[str, ...]:
    """The words that name the table in a command."""
    if (entry := _entry(table, one, asked)) is not None:
        return (entry.name, *asked.named_by)
    place = one.place
    if one.region != lineage.stream.region:
        place = replace(place, region=one.region)
    return (table.locator, "--stream", asked.stream, *words(together(asked.account, place)))


def _asked(request: DiscoverRequest, observer: Observer) -> _Asked:
    """A name in reshardctl.toml means the stream there, or that of the consumer; else a stream."""
    named, account = request.stream, request.account
    selection = Selection(account=account, config=request.config)
    config = None if named.startswith("arn:") else names(named, selection)
    if config is None:
        require_agreeing(account, named)
        return _Asked(named, account, _places(account, named))
    if named in config.consumers:
        stream = config.consumers[named].stream
    elif named in config.streams:
        stream = config.streams[named]
    else:
        return _Asked(named, account, _places(account, named))
    tell_file(config.file, request.config, observer)
    require_agreeing(account, stream.stream)
    reached = account_of(stream.reach, account)
    consumers = [
        (one, table_of(account, one.locator, one.reach)) for one in config.consumers.values()
        if one.stream.name == stream.name and one.locator.medium == "dynamodb"
    ]
    places = dict.fromkeys((*_places(reached, stream.stream), *(place for _, place in consumers)))
    file = () if request.config is None else ("--config", config.file)
    return _Asked(
        stream.stream, reached, tuple(places), tuple(consumers), (*file, *words(account))
    )


def _places(account: Account, stream: str) -> tuple[Account, ...]:
    """Where the tables may be: in the region that is set, and in that of the stream's ARN."""
    own, place = region_in(stream), table_of(account)
    if not own or place.region or region_set(place) == own:
        return (place,)
    arn = replace(place, region=own)
    return (place, arn) if region_set(place) else (arn,)
