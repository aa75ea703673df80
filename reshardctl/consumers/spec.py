"""What the other rooms need to know of a library without reading a row: its `Spec`, as data.

A library's `spec.py` imports only names and keys of its own, so that a locator can be read without
loading the code that interprets rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.codec.values import AFTER, SHARD_END, TRIM_HORIZON
from reshardctl.consumers.tables import NewTable, OwnTables, create_command
from reshardctl.errors import NoStore, command_line
from reshardctl.model import Image, Stream, TableShape
from reshardctl.model.tables import TableKey, key_of

Options = Mapping[str, str]
"""A locator's options by name."""

BASIC_KINDS = frozenset({AFTER, TRIM_HORIZON, SHARD_END})
"""What an operator can give for every library. AT_TIMESTAMP is resolved to a number."""

TABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}\Z", re.ASCII)
A_TABLE = "name of a DynamoDB table: 3 to 255 characters of a-z, A-Z, 0-9, _, - and ."
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?\Z", re.ASCII | re.DOTALL)
_HOST = r"(?:\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9_.-]+)(?::[0-9]{1,5})?"
_USER_AND_HOST = r"(?:[^/@]*@)?" + _HOST
REDIS = re.compile(_USER_AND_HOST + r"(?:/[0-9]{0,5})?\Z", re.ASCII)
NODE = re.compile(_HOST + r"/?\Z", re.ASCII)
DATABASE = re.compile(_USER_AND_HOST + r"/[^/?#\s]+\Z", re.ASCII)


class Scheme(Struct, frozen=True):
    """What the scheme of a locator names.

    Attributes:
        target: Pattern of what may follow the scheme.
        what: The same, as text.
        bare: Whether the target follows the colon directly, without `//`.
        server: Whether the target names a server and may carry a user and a password.
    """

    consumer: str
    medium: str
    target: re.Pattern[str]
    what: str
    example: str
    bare: bool = False
    server: bool = False


class Missing(Struct, frozen=True):
    """A store that does not exist.

    locator: its text. tables: as the library makes them. error: the medium's answer.
    """

    locator: str
    medium: str
    target: str
    tables: Sequence[NewTable]
    error: NoStore


def create_dynamodb_table(missing: Missing) -> str:
    """The command that re-creates a consumer's DynamoDB table.

    Keys and indexes are the library's own (`Spec.new_tables`). Billing is on demand: no release
    depends on it, and the capacity that KCL 1.x provisioned (10 and 10) is too little for a fleet
    that starts at once.
    """
    tables, error = missing.tables, missing.error
    new = next((table for table in tables if table.shape.name == error.table), tables[0])
    create = command_line(*create_command(replace(new, capacity=None), region=error.region))
    more = ""
    if new.ttl or sum(table.needed for table in tables) > 1:
        region = ("--table-region", error.region) if error.region else ()
        printed = command_line("reshardctl", "config", "tables", missing.locator, *region)
        more = f" (all that it takes: {printed})"
    return f"make it first, with your own tags{more}: {create}"


def _lease_table(target: str, _options: Options) -> Sequence[TableShape]:
    return (TableShape(target),)


def _no_tables(_target: str, _options: Options) -> OwnTables:
    return OwnTables()


def _no_statement(_medium: str, _table: str) -> str:
    return ""


def _no_log_table(_options: Options) -> TableShape | None:
    return None


def _no_heads(_options: Options, _stream: str) -> Mapping[str, str]:
    return {}


def _names_no_stream(_row: Image, _stream: Stream) -> bool | None:
    return None


def _the_only_one(_row: Image, _stream: Stream) -> str:
    return ""


class Spec(Struct, frozen=True, kw_only=True):
    """One library, as data.

    Attributes:
        name: In the registry, in reports and in configuration files.
        schemes: Scheme of a locator → what it names.
        tables: (target, options) → the tables of its store in DynamoDB or in a relational database;
            the one with the positions first.
        heads: (options, stream) → see `TableShape.heads`.
        names_stream: Whether a row's key names this stream; `None` where it names none.
        application: (row of this stream, stream) → the options of a locator that select the row's
            application, "" where a table is one application's.
        log_table: Options → the DynamoDB table that replaces a part of its files.
        identity_rows: Member of a store's identity → the row that gives it, where a fix may write
            that row into an empty store.
        position_attribute: Name of the position, for stores that keep one attribute only.
        default_table: Of a relational database, where `table=` names none.
        new_tables: (target, options) → the DynamoDB tables of an application, as the library makes
            them; raises UsageError for options that it has not.
        create_table: (medium, table) → the SQL statement that makes its table in a relational
            database, "" for other media.
        create_store: How an operator re-creates a deleted store, as text.
        volatile_attributes: Attributes that change by themselves and that no undo restores.
        monotonic_counters: Those of them that only grow.
        owner_attributes: Those of them that name a row's owner.
        attributes: Every attribute that the library writes, in rows of any kind and inside them;
            others may be called after the operator's own things.
        types: The type of each attribute of a row in DynamoDB, for texts that leave types out.
        of_every_shard: Attributes that it writes into each row of a shard.
        rests_on: Attributes that a proof rests on.
        reading: Attributes of a footprint that change while the consumer reads normally.
        plain: Texts in rows that the library writes itself and that identify nobody.
        key_words: The same for parts of keys that are paths; `None` where no key is one.
        ambiguous_options: Options that no store holds, in the order in which they are asked for.
        selectors: Options that select rows in a store that several applications share.
        least_watch: Seconds a watch must last for an application without options to count as
            stopped, see `BaseConsumer.watch_needed`.
        watchable: Whether the store changes while the consumer runs and has nothing to read.
        switched: Media in which a row says whether the consumer is switched off instead.
        makes_itself: What the library does if its store is missing; ends a sentence.
        rebuilt_empty: What to know of positions written into an empty store.
        kinds: Kinds of positions that its store can hold, besides those of `BASIC_KINDS`.
        iterator: The type of shard iterator with which it asks Kinesis for a stored number.
        ends_by_number: Whether a row says that nothing of a shard is to be read by the number of
            its last record.
    """

    name: str
    schemes: Mapping[str, Scheme]
    tables: Callable[[str, Options], Sequence[TableShape]] = _lease_table
    heads: Callable[[Options, str], Mapping[str, str]] = _no_heads
    names_stream: Callable[[Image, Stream], bool | None] = _names_no_stream
    application: Callable[[Image, Stream], str] = _the_only_one
    log_table: Callable[[Options], TableShape | None] = _no_log_table
    identity_rows: Mapping[str, str] = field(default_factory=dict)
    position_attribute: str = ""
    default_table: str = ""
    new_tables: Callable[[str, Options], OwnTables] = _no_tables
    create_table: Callable[[str, str], str] = _no_statement
    create_store: Callable[[Missing], str] = create_dynamodb_table
    volatile_attributes: frozenset[str] = frozenset()
    monotonic_counters: frozenset[str] = frozenset()
    owner_attributes: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict)
    of_every_shard: frozenset[str] = frozenset()
    rests_on: tuple[str, ...] = ()
    reading: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    key_words: frozenset[str] | None = None
    ambiguous_options: tuple[str, ...] = ("initial", "release")
    selectors: tuple[str, ...] = ()
    least_watch: float = 0.0
    watchable: bool = True
    switched: frozenset[str] = frozenset()
    makes_itself: str = ""
    rebuilt_empty: str = ""
    kinds: frozenset[str] = frozenset()
    iterator: str = "AFTER_SEQUENCE_NUMBER"
    ends_by_number: bool = False

    @property
    def table_scheme(self) -> str:
        """The scheme of its locators for DynamoDB, "" where it keeps nothing there."""
        media = ((scheme.medium, name) for name, scheme in self.schemes.items())
        return next((name for medium, name in media if medium == "dynamodb"), "")

    @property
    def table_key(self) -> TableKey:
        """The primary key of its DynamoDB table of positions."""
        return key_of(self.tables("", {})[0])

    @property
    def table_ending(self) -> str:
        """The suffix of that table's name after the application's name."""
        return self.tables("", {})[0].name
