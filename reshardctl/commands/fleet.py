"""`inspect --discover`: all consumers of an account whose tables tell which stream they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from msgspec import Struct

from reshardctl.at_once import at_once
from reshardctl.commands import configured
from reshardctl.commands.connect import kinesis_of, now
from reshardctl.commands.discover import asked_of, reaching
from reshardctl.commands.named import one as target_named
from reshardctl.commands.observer import Observer
from reshardctl.commands.table_samples import Sample, samples_of, told
from reshardctl.commands.target import Selection, Target
from reshardctl.diagnosis.discovery import Confidence, Table, tables_of, whose_tables
from reshardctl.errors import CannotTell, ReshardError, command_line
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.whose import MOST_STREAMS
from reshardctl.lineage import Lineage
from reshardctl.render.words import count
from reshardctl.report.results import Entry, Searched
from reshardctl.snapshot.take import NUMBERS_ASKED, same_second_streams

STREAMS_AT_ONCE = 5
"""Streams that are listed at the same time: DescribeStreamSummary may be called 20 times a second
in an account, by all its programs."""
CALLS_OF_STREAM = 3
"""Two of DescribeStreamSummary, one of ListShards up to 1,000 shards."""
CALLS_OF_TABLE = 3
"""DescribeTable, Scan up to 1 MB of rows, and a read of a table beside it."""


class Fleet(Struct, frozen=True):
    """What was found.

    Attributes:
        targets: The consumers to judge, by stream and name.
        unjudged: Tables and streams of which nothing can be told, with the reason.
        searched: Where they were looked for.
    """

    targets: Sequence[Target]
    unjudged: Sequence[Entry]
    searched: Searched


def fleet(selection: Selection, observer: Observer) -> Fleet:
    """The consumers of the stream of the selection, or of every stream of the account.

    Those that reshardctl.toml names are judged as it says there, also where their table is gone.
    Raises CannotTell where neither streams nor tables can be listed.
    """
    asked = asked_of(selection.stream or "", selection.account, selection.config, observer)
    kinesis = kinesis_of(asked.account, asked.stream, observer)
    streams = [asked.stream] if asked.stream else _streams(kinesis)
    seen = samples_of(asked.places, observer)
    observer.note(
        f"{count(seen.looked, 'table')} in {', '.join(seen.regions)}, {len(seen.tables)} with the "
        f"key of a consumer's; {count(CALLS_OF_STREAM * len(streams), 'call')} list "
        f"{count(len(streams), 'stream')}"
    )
    lineages, unlisted = _listed(kinesis, streams)
    alike = {name: same_second_streams(each, kinesis) for name, each in lineages.items()}
    lineages = _with_answers(kinesis, lineages, alike, seen.tables, observer)
    of_file = [] if asked.config is None else [
        configured.target_of(entry, asked.config, selection, observer)
        for entry, _ in asked.consumers
    ]
    targets = {_key(target): target for target in of_file}
    unjudged = [*unlisted, *(_unjudged(f"table {name}", why) for name, why in seen.unread)]
    idle: list[tuple[str, str]] = []
    for one in seen.tables:
        whose = whose_tables(
            {name: _tables(one, lineage, alike[name]) for name, lineage in lineages.items()},
            alone=not asked.stream,
        )
        named = any(one.entries(asked.consumers))
        for name, table in whose.own:
            if why := one.unreadable(table):
                unjudged.append(_unjudged(f"table {one.name}", why))
            elif one.configured(table, asked.consumers) is None:
                account = reaching(asked, one, lineages[name])
                own = replace(selection, stream=name, account=account, config=None)
                target = target_named(table.locator, own, observer)
                targets[_key(target)] = target
        if whose.open and not named:
            way = command_line("reshardctl", "inspect", one.locator, "--stream", "STREAM")
            unjudged.append(_unjudged(f"table {one.name}", f"of which stream? {whose.left}", way))
        elif not whose.own and not named:
            idle.append((one.name, whose.left))
    ordered = [targets[key] for key in sorted(targets)]
    _announce(ordered, observer)
    searched = Searched(len(streams), seen.looked, seen.regions, tuple(idle))
    return Fleet(ordered, unjudged, searched)


def _unjudged(name: str, why: str, way: str = "") -> Entry:
    failure = CannotTell(why, way or "reshardctl discover STREAM   # says more of it")
    return Entry(name, "", None, (), failure.exit, failure=failure)


def _key(target: Target) -> tuple[str, str]:
    """Sorts by stream, and tells consumers apart."""
    name = target.locator.text if target.entry is None else target.entry.name
    return target.stream, name


def _announce(targets: Sequence[Target], observer: Observer) -> None:
    """Says what judging them may take, before the first call."""
    streams = len({target.stream for target in targets})
    tables = sum(
        len(target.locator.spec.tables(target.locator.target, target.locator.options))
        for target in targets
    )
    of_kinesis = CALLS_OF_STREAM * streams + NUMBERS_ASKED * len(targets)
    observer.note(
        f"inspecting {count(len(targets), 'consumer')} of {count(streams, 'stream')}: about "
        f"{of_kinesis:,} calls to Kinesis, and {CALLS_OF_TABLE * tables:,} to DynamoDB for tables "
        "up to 1 MB each"
    )


def _streams(kinesis: Kinesis) -> list[str]:
    """The names of the account's streams."""
    every = kinesis.streams()
    if every is None:
        raise CannotTell(
            "the streams of this account cannot be listed: that takes kinesis:ListStreams",
            "allow it, or name a stream: --stream NAME",
        )
    if len(every) >= MOST_STREAMS:
        raise CannotTell(
            f"the account has {MOST_STREAMS:,} streams or more here, and no more were listed",
            "name a stream: --stream NAME",
        )
    return sorted(arn.rpartition("/")[2] for arn in every)


def _listed(
    kinesis: Kinesis, streams: Sequence[str]
) -> tuple[dict[str, Lineage], list[Entry]]:
    """The shards of each stream, and the streams of which they are not known."""
    time = now()
    outcomes = at_once([partial(kinesis.lineage, name) for name in streams], STREAMS_AT_ONCE)
    lineages: dict[str, Lineage] = {}
    unlisted = []
    for name, outcome in zip(streams, outcomes, strict=True):
        if isinstance(outcome, ReshardError):
            unlisted.append(Entry(
                "every consumer", name, None, (), outcome.exit, failure=outcome, asked=name
            ))
        else:
            lineages[name] = outcome.as_of(time)
    return lineages, unlisted


def _with_answers(
    kinesis: Kinesis, lineages: Mapping[str, Lineage], alike: Mapping[str, Sequence[str]],
    samples: Sequence[Sample], observer: Observer,
) -> dict[str, Lineage]:
    """The same, with what Kinesis says of numbers of tables of which nothing else tells.

    alike: by stream, the others that were created in the same second.
    """
    open_ones = [
        one for one in samples
        if all(
            table.evidence.confidence < Confidence.STRONG for name, lineage in lineages.items()
            for table in _tables(one, lineage, alike[name])
        )
    ]
    known = {}
    for name, lineage in lineages.items():
        known[name], notes = told(kinesis, name, lineage, open_ones)
        for note in notes:
            observer.note(f"{name}: {note}")
    return known


def _tables(sample: Sample, lineage: Lineage, alike: Sequence[str]) -> list[Table]:
    return tables_of(sample.name, sample.library, sample.rows, lineage, sample.region, {}, alike)


