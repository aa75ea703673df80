"""Opens the store of a locator: one function per medium, none of which calls anything yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reshardctl.consumers.locator import Locator
from reshardctl.consumers.spec import Missing
from reshardctl.errors import NoStore, Refused
from reshardctl.model.files import on_this_machine

if TYPE_CHECKING:
    from reshardctl.stores.base import Store
    from reshardctl.stores.files.blobs import Blobs
    from reshardctl.stores.sql.server import Server


class Reached(Struct, frozen=True):
    """How the store's account is reached.

    stream: the name of the stream that is read from there. endpoints: service → URL, for those that
    are given. session: a boto3 Session. clock: monotonic seconds; sleep: waits that many.
    files_read: receives how many of how many files are read; rows_read: how many rows of a table.
    search: region → the command that shows which tables hold the stream's positions. profile: of
    the store's account, where one is named.
    """

    stream: str
    session: Any
    region: str | None
    endpoints: Mapping[str, str]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    files_read: Callable[[int, int], None]
    rows_read: Callable[[int], None]
    search: Callable[[str], str]
    profile: str | None = None


def _dynamodb(locator: Locator, reached: Reached) -> Store:
    from reshardctl.consumers.registry import consumer_of
    from reshardctl.stores.dynamodb import DynamoDb

    tables = locator.spec.tables(locator.target, locator.options)
    return DynamoDb(
        reached.session, tables, region=reached.region,
        endpoint_url=reached.endpoints.get("dynamodb"), clock=reached.clock, sleep=reached.sleep,
        side=consumer_of(locator).side_tables(locator.target), progress=reached.rows_read,
        search=reached.search, account=locator.account,
    )


def _files(locator: Locator, reached: Reached) -> Store:
    """A path of this machine, or one of a Hadoop file system with its scheme."""
    from reshardctl.stores.files.local import Local

    path = on_this_machine(locator.target)
    if path is not None:
        else_there = f"; if it is on HDFS: spark:hdfs://{path}" if path.startswith("/") else ""
        blobs: Blobs = Local(path, reached.files_read, else_there)
    else:
        from reshardctl.spark.hadoop import Hadoop

        blobs = Hadoop(locator.target, progress=reached.files_read)
    return _of_files(locator, blobs, reached)


def _s3files(locator: Locator, reached: Reached) -> Store:
    return _of_files(locator, _bucket(locator.target, reached), reached)


def _of_files(locator: Locator, blobs: Blobs, reached: Reached) -> Store:
    """The files that are wanted, joined with the table that keeps a part of them, if one does."""
    from reshardctl.consumers.registry import consumer_of
    from reshardctl.stores.files.tree import Tree

    select = consumer_of(locator).files()
    assert select is not None, f"{locator.consumer} keeps no files"
    files = Tree(blobs, select)
    table = locator.spec.log_table(locator.options)
    if table is None:
        return files
    from reshardctl.stores.base import Joined
    from reshardctl.stores.dynamodb import DynamoDb
    from reshardctl.stores.dynamodb.client import list_tables

    rows = DynamoDb(
        reached.session, [table], region=reached.region,
        endpoint_url=reached.endpoints.get("dynamodb"), clock=reached.clock, sleep=reached.sleep,
        progress=reached.rows_read,
        search=lambda region: list_tables(region, reached.profile),
    )
    return Joined(files, {table.prefix: rows})


def _bucket(target: str, reached: Reached) -> Blobs:
    from reshardctl.stores.files.s3 import S3

    bucket, _, prefix = target.partition("/")
    return S3(
        reached.session, bucket, prefix, region=reached.region,
        endpoint_url=reached.endpoints.get("s3"), sleep=reached.sleep,
        progress=reached.files_read,
    )


def _quickwit_files(locator: Locator, _reached: Reached) -> Store:
    from reshardctl.consumers.quickwit.document import FILE, Document
    from reshardctl.stores.files.local import Local
    from reshardctl.stores.quickwit import Indexes

    # Quickwit's own URIs may end in #polling_interval=30s.
    return Indexes(
        Local(locator.target.partition("#")[0]), partial(Document, FILE), *_named(locator)
    )


def _quickwit_s3(locator: Locator, reached: Reached) -> Store:
    from reshardctl.consumers.quickwit.document import FILE, Document
    from reshardctl.stores.quickwit import Indexes

    blobs = _bucket(locator.target.partition("#")[0], reached)
    return Indexes(blobs, partial(Document, FILE), *_named(locator))


def _quickwit_postgres(locator: Locator, reached: Reached) -> Store:
    from reshardctl.consumers.quickwit.document import ROW, Document
    from reshardctl.consumers.quickwit.rows import enabled
    from reshardctl.stores.quickwit.postgres import Metastore
    from reshardctl.stores.sql.postgres import Postgres
    from reshardctl.stores.sql.server import address_of

    server = Postgres(address_of(locator.target, locator.password))
    return Metastore(server, reached.sleep, partial(Document, ROW), enabled, *_named(locator))


def _quickwit_http(locator: Locator, reached: Reached, scheme: str = "http") -> Store:
    from reshardctl.consumers.quickwit.document import ROW, Document
    from reshardctl.stores.quickwit.rest import Rest

    codec = partial(Document, ROW)
    return Rest(scheme, locator.target, codec, *_named(locator), clock=reached.clock)


def _quickwit_https(locator: Locator, reached: Reached) -> Store:
    return _quickwit_http(locator, reached, "https")


def _named(locator: Locator) -> tuple[str, str]:
    return locator.options.get("index", ""), locator.options.get("source", "")


def _redis(locator: Locator, reached: Reached, *, tls: bool = False) -> Store:
    from reshardctl.stores.redis import Server, Strings

    (shape,) = locator.spec.tables("", locator.options)
    return Strings(
        Server(locator.target, locator.password, tls=tls), shape, locator.spec.position_attribute,
        locator.options.get("app", ""), reached.sleep,
    )


def _rediss(locator: Locator, reached: Reached) -> Store:
    return _redis(locator, reached, tls=True)


def _postgres(locator: Locator, reached: Reached) -> Store:
    from reshardctl.stores.sql.postgres import Postgres
    from reshardctl.stores.sql.server import address_of

    return _table(Postgres(address_of(locator.target, locator.password)), locator, reached)


def _mysql(locator: Locator, reached: Reached) -> Store:
    from reshardctl.stores.sql.mysql import MySql
    from reshardctl.stores.sql.server import address_of

    return _table(MySql(address_of(locator.target, locator.password)), locator, reached)


def _table(server: Server, locator: Locator, reached: Reached) -> Store:
    from reshardctl.stores.sql import SqlTable

    name = locator.options.get("table", locator.spec.default_table)
    (shape,) = locator.spec.tables(name, locator.options)
    shape = replace(shape, heads=locator.spec.heads(locator.options, reached.stream))
    return SqlTable(server, shape, locator.spec.position_attribute, reached.sleep)


STORES: Mapping[str, Callable[[Locator, Reached], Store]] = {
    "dynamodb": _dynamodb,
    "quickwit-files": _quickwit_files,
    "quickwit-http": _quickwit_http,
    "quickwit-https": _quickwit_https,
    "quickwit-postgres": _quickwit_postgres,
    "quickwit-s3": _quickwit_s3,
    "files": _files,
    "mysql": _mysql,
    "postgres": _postgres,
    "redis": _redis,
    "rediss": _rediss,
    "s3files": _s3files,
}


@contextmanager
def saying_how_to_make(locator: Locator) -> Iterator[None]:
    """Raises Refused, with the command that makes it, for a table or directory that is missing.

    It is not made here: its owner, its tags and its policies are not ours to choose.
    """
    try:
        yield
    except NoStore as error:
        spec, target = locator.spec, locator.target
        tables = spec.new_tables(target, locator.options).tables
        missing = Missing(locator.text, locator.medium, target, tables, error)
        raise Refused(error.what + spec.makes_itself, spec.create_store(missing)) from None
