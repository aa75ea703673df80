"""Sessions, endpoints, and the ports of a command; and stores that it can only read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reshardctl.commands.observer import Observer
from reshardctl.commands.places import (
    require_agreeing,
    require_one_region,
    require_table,
    search_of,
    table_of,
)
from reshardctl.commands.requests import Account
from reshardctl.config.entries import SERVICES
from reshardctl.consumers.locator import Locator, parse
from reshardctl.errors import CannotTell, Refused, UsageError

if TYPE_CHECKING:
    from reshardctl.aws.client import Session
    from reshardctl.kinesis import Kinesis
    from reshardctl.lineage import Lineage
    from reshardctl.snapshot import Ports
    from reshardctl.stores.dynamodb.catalog import Catalog
    from reshardctl.stores.dynamodb.described import Described


def place_of(text: str, observer: Observer) -> Locator:
    """A locator whose options its consumer understands. UsageError before any call."""
    locator = checked(_absolute(parse(text)))
    if locator.password:
        observer.note(
            "warning: a password on the command line is in the shell's history and in every list "
            "of processes; the driver's own file or variable is a better place"
        )
    return locator


def _absolute(locator: Locator) -> Locator:
    """The locator with an absolute path: plans and journals are read in other directories, too."""
    if locator.medium != "files" or ":" in locator.target or locator.target.startswith(("/", "~")):
        return locator
    return locator.elsewhere(str(Path.cwd() / locator.target), locator.options)


def checked(locator: Locator) -> Locator:
    """The same locator, once its consumer has understood its options."""
    from reshardctl.consumers.registry import consumer_of

    consumer_of(locator).validate_options(locator.options)
    return locator


def ports_of(
    account: Account, locator: Locator, observer: Observer, stream: str,
    store: Account | None = None,
) -> Ports:
    """Kinesis and the store of a locator. Calls nothing yet, unless a role is assumed.

    stream: its name or ARN; an ARN names the stream's region, whatever the account's is. store: how
    the store is reached, if the account's options do not say so.
    """
    from reshardctl.commands.open_store import STORES, Reached
    from reshardctl.snapshot import Ports

    if store is None:
        require_agreeing(account, stream, locator)
        require_table(account, locator)
        store = table_of(account, locator)
        require_one_region(store, locator, stream)
    endpoints = endpoints_of(account.endpoints)
    session = _session(account, endpoints)
    kinesis = _kinesis(session, account, endpoints, observer, stream)
    urls = endpoints_of(store.endpoints)
    if _caller(store, urls) != _caller(account, endpoints):
        with _naming_role(account, store):
            session = _session(store, urls)
    reached = Reached(
        stream.rpartition("/")[2], session, store.region, urls, time.monotonic, time.sleep,
        observer.files_read, observer.rows_read, search_of(stream, account, store), store.profile,
    )
    opened = STORES[locator.medium](locator, reached)
    return Ports(kinesis, opened, time.time, time.sleep, observer.interrupted)


@contextmanager
def _naming_role(account: Account, store: Account) -> Iterator[None]:
    """Names `--table-role-arn` where the stream's role cannot be assumed for the table."""
    try:
        yield
    except CannotTell as error:
        if store.role == account.role:
            error.next += "; another one for the table: --table-role-arn, or '' for none"
        raise


def listed(
    account: Account, stream: str, observer: Observer, *, alone: bool = True
) -> tuple[Lineage, float]:
    """A stream: its listing, and the Unix second at which it was read.

    alone: whether no consumer is read. UsageError for options that contradict its ARN, or are of
    the table of a consumer that is not read.
    """
    require_agreeing(account, stream)
    if alone:
        require_table(account, None)
    return kinesis_of(account, stream, observer).lineage(stream), time.time()


def kinesis_of(account: Account, stream: str, observer: Observer) -> Kinesis:
    """A stream's Kinesis alone. Calls nothing yet, unless a role is assumed."""
    endpoints = endpoints_of(account.endpoints)
    return _kinesis(_session(account, endpoints), account, endpoints, observer, stream)


def now() -> float:
    """Unix seconds."""
    return time.time()


def wait(seconds: float) -> None:
    """Sleeps, by the clock of the ports."""
    time.sleep(seconds)


def catalog_of(account: Account) -> Catalog:
    """The tables of the account and region. Calls nothing yet."""
    from reshardctl.stores.dynamodb.catalog import Catalog

    endpoints = endpoints_of(account.endpoints)
    return Catalog(
        _session(account, endpoints), region=account.region,
        endpoint_url=endpoints.get("dynamodb"), clock=time.monotonic, sleep=time.sleep,
    )


def described_of(store: Account, locator: Locator) -> Described:
    """What DynamoDB says of a consumer's tables. Calls nothing yet, unless a role is assumed.

    store: how they are reached.
    """
    from reshardctl.stores.dynamodb.client import list_tables
    from reshardctl.stores.dynamodb.described import Described

    endpoints = endpoints_of(store.endpoints)
    return Described(
        _session(store, endpoints), region=store.region, endpoint_url=endpoints.get("dynamodb"),
        clock=time.monotonic, sleep=time.sleep, account=locator.account,
        search=lambda region: list_tables(region, store.profile),
    )


def bucket_client(account: Account, place: str) -> Any:
    """boto3's client of S3, for journals. place: the name of the bucket in messages."""
    from reshardctl.aws.client import client_of

    account = table_of(account)
    endpoints = endpoints_of(account.endpoints)
    session = _session(account, endpoints)
    return client_of(session, "s3", account.region, endpoints.get("s3"), place)


def _kinesis(
    session: Session, account: Account, endpoints: dict[str, str], observer: Observer, stream: str
) -> Kinesis:
    from reshardctl.commands.target import budget_of
    from reshardctl.kinesis import Kinesis
    from reshardctl.kinesis.budget import Look
    from reshardctl.kinesis.target import region_in

    region = region_in(stream) or account.region
    return Kinesis(
        session, endpoint_url=endpoints.get("kinesis"), region=region,
        clock=time.time, sleep=time.sleep, progress=observer.shards_listed,
        limits=budget_of(account.budget),
        look=Look(observer.reading_shards, observer.shards_read),
    )


def endpoints_of(texts: Sequence[str]) -> dict[str, str]:
    """Reads `kinesis=http://…`, or a bare URL for every service."""
    endpoints: dict[str, str] = {}
    for text in texts:
        if "@" in text:
            raise UsageError(
                "--endpoint-url: no user or password is taken in a URL",
                "credentials come from the environment or the profile",
            )
        service, equals, url = text.partition("=")
        if text.startswith(("http://", "https://")):
            endpoints |= dict.fromkeys(SERVICES, text)
        elif equals and service in SERVICES and url.startswith(("http://", "https://")):
            endpoints[service] = url
        else:
            raise UsageError(
                f"--endpoint-url {text}: not SERVICE=URL",
                "e.g. --endpoint-url kinesis=http://127.0.0.1:4567",
            )
    return endpoints


def _session(account: Account, endpoints: dict[str, str]) -> Session:
    from reshardctl.aws.client import session_of

    return session_of(*_caller(account, endpoints))


def _caller(
    account: Account, endpoints: dict[str, str]
) -> tuple[str | None, str | None, str | None, str | None]:
    """What makes a session: equal for the same one."""
    return account.profile, account.region, account.role, endpoints.get("sts")


MEDIA = frozenset({"quickwit-http", "quickwit-https"})


def only_read(locator: Locator, dry_run: bool, out: Path | None) -> None:
    """Raises Refused, before any read, for a write to such a store or a plan of one."""
    if locator.medium not in MEDIA or (dry_run and out is None):
        return
    from reshardctl.stores.quickwit.rest import READ_ONLY, WHERE

    raise Refused(f"{locator.text} cannot be written to: {READ_ONLY}", WHERE)
