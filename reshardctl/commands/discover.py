"""`discover`: lists the tables, checks their keys, and samples those that may hold positions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.at_once import Started
from reshardctl.codec.argv import words
from reshardctl.commands.configured import names, tell_file
from reshardctl.commands.connect import kinesis_of, now
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.places import (
    account_of,
    region_set,
    require_agreeing,
    table_of,
    together,
)
from reshardctl.commands.requests import Account
from reshardctl.commands.table_samples import Sample, samples_of, verified
from reshardctl.commands.target import Selection
from reshardctl.diagnosis.discovery import Found, Table, tables_of
from reshardctl.errors import ReshardError
from reshardctl.kinesis.target import region_in
from reshardctl.lineage import Lineage
from reshardctl.snapshot.take import same_second_streams

if TYPE_CHECKING:
    from reshardctl.config.entries import Config, Consumer


class DiscoverRequest(Struct, frozen=True):
    """Whose tables to look for.

    stream: name, ARN, or a name in reshardctl.toml. account: how AWS is reached. config: the
    configuration file, if it is not the usual one.
    """

    stream: str
    account: Account = field(default_factory=Account)
    config: Path | None = None


class Asked(Struct, frozen=True):
    """Which tables are looked for.

    Attributes:
        stream: Whose; "" for every stream of the account.
        account: How the stream is reached.
        places: How the tables are reached, each region once.
        consumers: Those of the stream in reshardctl.toml, each with how its table is reached.
        config: The file that names them.
        named_by: The words after such a consumer's name in a command.
    """

    stream: str
    account: Account
    places: Sequence[Account]
    consumers: Sequence[tuple[Consumer, Account]] = ()
    config: Config | None = None
    named_by: tuple[str, ...] = ()


def discover(request: DiscoverRequest, observer: Observer = SILENT) -> Found:
    """The tables that may hold the stream's positions; both are read at the same time.

    Raises CannotTell if the stream or the tables cannot even be listed, for the stream first.
    """
    asked = asked_of(request.stream, request.account, request.config, observer)
    kinesis = kinesis_of(asked.account, asked.stream, observer)
    time = now()
    listing = Started(lambda: kinesis.lineage(asked.stream))
    Started(kinesis.streams)  # kept by it, for `same_second_streams`
    try:
        seen = samples_of(asked.places, observer)
    except ReshardError:
        listing.result()
        raise
    lineage = listing.result().as_of(time)
    lineage, born, notes = verified(kinesis, asked.stream, lineage, seen.tables)
    alike = same_second_streams(lineage, kinesis)
    tables = [table for one in seen.tables for table in _judged(one, lineage, asked, born, alike)]
    return Found(
        lineage, time, tuple(tables), seen.looked, seen.unread, seen.regions, notes
    )


def _judged(
    one: Sample, lineage: Lineage, asked: Asked, born: Mapping[int, tuple[str, ...]],
    alike: Sequence[str],
) -> list[Table]:
    """What a sample says, with the words that name each table in a command."""
    tables = tables_of(one.name, one.library, one.rows, lineage, one.region, born, alike)
    return [
        replace(table, words=() if why else _words(table, one, lineage, asked), unreadable=why)
        for table in tables for why in (one.unreadable(table),)
    ]


def _words(table: Table, one: Sample, lineage: Lineage, asked: Asked) -> tuple[str, ...]:
    """The words that name the table in a command."""
    if (entry := one.configured(table, asked.consumers)) is not None:
        return (entry.name, *asked.named_by)
    account = reaching(asked, one, lineage)
    return (table.locator, "--stream", asked.stream, *words(account))


def reaching(asked: Asked, one: Sample, lineage: Lineage) -> Account:
    """How a stream and a table are reached together."""
    place = one.place
    if one.region != lineage.stream.region:
        place = dataclasses.replace(place, region=one.region)
    return together(asked.account, place)


def asked_of(named: str, account: Account, file: Path | None, observer: Observer) -> Asked:
    """A name in reshardctl.toml means the stream there, or that of the consumer; else a stream.

    named: "" for every stream. file: the configuration file, if it is not the usual one.
    """
    selection = Selection(account=account, config=file)
    config = None if named.startswith("arn:") else names(named, selection)
    if config is None or not {"", *config.consumers, *config.streams} & {named}:
        require_agreeing(account, named)
        return Asked(named, account, _places(account, named))
    tell_file(config.file, file, observer)
    stream, reached, name = None, account, ""
    if named:
        entry = config.consumers.get(named)
        stream = config.streams[named] if entry is None else entry.stream
        require_agreeing(account, stream.stream)
        reached, name = account_of(stream.reach, account), stream.stream
    consumers = [
        (one, table_of(account, one.locator, one.reach)) for one in config.consumers.values()
        if one.locator.medium == "dynamodb" and (stream is None or one.stream.name == stream.name)
    ]
    places = dict.fromkeys((*_places(reached, name), *(place for _, place in consumers)))
    given = () if file is None else ("--config", config.file)
    return Asked(
        name, reached, tuple(places), tuple(consumers), config, (*given, *words(account))
    )


def _places(account: Account, stream: str) -> tuple[Account, ...]:
    """Where the tables may be: in the region that is set, and in that of the stream's ARN."""
    own, place = region_in(stream), table_of(account)
    if not own or place.region or region_set(place) == own:
        return (place,)
    arn = dataclasses.replace(place, region=own)
    return (place, arn) if region_set(place) else (arn,)
