"""`config tables`: the DynamoDB tables of consumers, as their libraries make them, and as they are.

Stream and rows are not needed for it; rows are read only where a time to live may delete them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reshardctl.at_once import at_once
from reshardctl.commands import configured
from reshardctl.commands.connect import described_of, place_of
from reshardctl.commands.named import is_snapshot
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.places import require_table, table_of
from reshardctl.commands.requests import Account
from reshardctl.commands.target import Selection
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.tables import NewTable, Writes, remarks
from reshardctl.errors import NoStore, ReshardError, UsageError, command_line
from reshardctl.exit import Exit, worst
from reshardctl.render.content.tables import FORMATS, Look, TableLook, Wanted

if TYPE_CHECKING:
    from reshardctl.stores.dynamodb.described import Described


class _Consumer(Struct, frozen=True):
    """store: how its tables are reached."""

    name: str
    locator: Locator
    store: Account

    @property
    def wanted(self) -> Wanted:
        spec, options = self.locator.spec, self.locator.options
        target, medium = self.locator.target, self.locator.medium
        if medium != "dynamodb" and spec.log_table(options) is None:
            table = options.get("table", spec.default_table)
            return Wanted(self.name, sql=spec.create_table(medium, table))
        own = spec.new_tables(target, options)
        return Wanted(self.name, own, self.store.region or "")


class Checked(Struct, frozen=True):
    """What was found. failure: why the exit code is what it is, if something could not be read."""

    looks: Sequence[Look]
    exit: Exit
    failure: ReshardError | None


def printed(
    names: Sequence[str], selection: Selection, form: str = "cli", observer: Observer = SILENT
) -> Iterable[str]:
    """What makes the tables of consumers, as lines of text. Calls nothing.

    names: locators, or names in reshardctl.toml; none means all in it. form: a key of `FORMATS`.
    Raises UsageError for a consumer whose tables depend on an option that was not given.
    """
    wanted = []
    for each in (consumer.wanted for consumer in _consumers(names, selection, observer)):
        if (form == "sql") is bool(each.sql) and (each.sql or each.own.tables):
            wanted.append(each)
            continue
        other = ", --format sql prints the one in its database" if each.sql else ""
        where = "SQL table" if form == "sql" else "DynamoDB table"
        observer.note(f"{each.name} keeps its positions in no {where}{other}")
    for each in wanted:
        if each.own.unsettled:
            raise UsageError(
                f"{each.name}: its tables depend on its release, which was not given",
                each.own.unsettled,
            )
    return FORMATS[form](wanted) if wanted else ()


def checked(
    names: Sequence[str], selection: Selection, observer: Observer = SILENT
) -> Checked:
    """Looks at the tables of consumers.

    The exit code is FINDINGS if something is wrong with one, USAGE if one is missing, UNKNOWN if
    something could not be told; the last two have an error. names: as in `printed`.
    """
    consumers = _consumers(names, selection, observer)
    jobs = [_job(consumer) for consumer in consumers]
    looks: list[Look] = []
    for consumer, outcome in zip(consumers, at_once(jobs), strict=True):
        if isinstance(outcome, ReshardError):
            outcome = Look(consumer.wanted, failure=outcome)
        looks.append(outcome)
    failures = [failure for look in looks for failure in _failures(look)]
    wrong = any(table.wrong for look in looks for table in look.tables)
    code = worst(Exit.FINDINGS if wrong else Exit.OK, *(failure.exit for failure in failures))
    return Checked(looks, code, next((each for each in failures if each.exit is code), None))


def _consumers(
    names: Sequence[str], selection: Selection, observer: Observer
) -> list[_Consumer]:
    found = {}
    config = None if names else configured.config_of(selection)
    for text in names or ("",):
        if is_snapshot(text):
            raise UsageError(
                f"{text}: a snapshot holds rows, and not how their table is made",
                "name the store itself, as in kcl://TABLE",
            )
        file = config or configured.names(text, selection)
        if file is None:
            locator = place_of(text, observer)
            require_table(selection.account, locator)
            found[text] = _Consumer(locator.text, locator, table_of(selection.account, locator))
            continue
        configured.tell_file(file.file, selection.config, observer)
        for target in configured.several([text] if text else [], file, selection, observer):
            assert target.entry is not None
            require_table(selection.account, target.locator)
            store = table_of(selection.account, target.locator, target.entry.reach)
            found[target.entry.name] = _Consumer(target.entry.name, target.locator, store)
    return list(found.values())


def _job(consumer: _Consumer) -> Callable[[], Look]:
    """The look at a consumer, with its client made: making clients is not thread-safe."""
    wanted = consumer.wanted
    if not wanted.own.tables:
        return lambda: Look(wanted)
    try:
        described = described_of(consumer.store, consumer.locator)
    except ReshardError as error:
        failure = error
        return lambda: Look(wanted, failure=failure)
    return lambda: Look(wanted, tuple(_looks(wanted, described)))


def _looks(wanted: Wanted, described: Described) -> Iterable[TableLook]:
    writes = wanted.own.writes
    for new in wanted.own.tables:
        yield _look(new, described, writes, wanted)
        writes = None  # known of the first table only


def _look(
    new: NewTable, described: Described, writes: Writes | None, wanted: Wanted
) -> TableLook:
    try:
        seen, failures = described.table(new.shape)
    except NoStore as missing:
        region = ("--table-region", wanted.region) if wanted.region else ()
        make = command_line("reshardctl", "config", "tables", wanted.name, *region)
        missing.next = f"{missing.next}; what makes it: {make}"
        return TableLook(new, failures=(missing,) if new.needed else ())
    except ReshardError as error:
        return TableLook(new, failures=(error,))
    return TableLook(new, seen, tuple(remarks(new, seen, writes)), tuple(failures))


def _failures(look: Look) -> Iterable[ReshardError]:
    if look.failure is not None:
        yield look.failure
    for table in look.tables:
        yield from table.failures
