"""Sessions, endpoints, and the ports of a command."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reshardctl.commands.account import Account
from reshardctl.commands.observer import Observer
from reshardctl.config.entries import SERVICES
from reshardctl.consumers.locator import Locator, parse
from reshardctl.errors import UsageError

if TYPE_CHECKING:
    from reshardctl.aws.client import Session
    from reshardctl.execution.ports import Ports
    from reshardctl.kinesis import Kinesis
    from reshardctl.lineage import Lineage
    from reshardctl.stores.dynamodb.catalog import Catalog


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

    stream: its name or ARN, for commands that messages name. store: how the store is reached, if
    not as the stream is.
    """
    from reshardctl.commands.missing_table import search_of
    from reshardctl.commands.open_store import STORES, Reached
    from reshardctl.execution.ports import Ports

    endpoints = endpoints_of(account.endpoints)
    session = _session(account, endpoints)
    kinesis = _kinesis(session, account, endpoints, observer, stream)
    search = search_of(stream, account, store or account)
    if store is not None and store != account:
        account, endpoints = store, endpoints_of(store.endpoints)
        session = _session(account, endpoints)
    reached = Reached(
        session, account.region, endpoints, time.monotonic, time.sleep, observer.files_read,
        observer.rows_read, search,
    )
    opened = STORES[locator.medium](locator, reached)
    return Ports(kinesis, opened, time.time, time.sleep, observer.interrupted)


def listed(account: Account, stream: str, observer: Observer) -> tuple[Lineage, float]:
    """A stream alone: its listing, and the Unix second at which it was read."""
    endpoints = endpoints_of(account.endpoints)
    kinesis = _kinesis(_session(account, endpoints), account, endpoints, observer, stream)
    return kinesis.lineage(stream), time.time()


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


def bucket_client(account: Account, place: str) -> Any:
    """boto3's client of S3, for journals. place: the name of the bucket in messages."""
    from reshardctl.aws.client import client_of

    endpoints = endpoints_of(account.endpoints)
    session = _session(account, endpoints)
    return client_of(session, "s3", account.region, endpoints.get("s3"), place)


def _kinesis(
    session: Session, account: Account, endpoints: dict[str, str], observer: Observer, stream: str
) -> Kinesis:
    from reshardctl.aws.client import SET_A_REGION
    from reshardctl.commands.request import budget_of
    from reshardctl.kinesis import Kinesis
    from reshardctl.kinesis.look import Look
    from reshardctl.kinesis.target import region_in

    try:
        return Kinesis(
            session, endpoint_url=endpoints.get("kinesis"), region=account.region,
            clock=time.time, sleep=time.sleep, progress=observer.shards_listed,
            limits=budget_of(account.budget),
            look=Look(observer.reading_shards, observer.shards_read),
        )
    except UsageError as error:
        if error.next == SET_A_REGION and (region := region_in(stream)):
            named = f"--region {region}, that of the stream's ARN"
            error.next = SET_A_REGION.replace("--region", named)
        raise


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

    return session_of(account.profile, account.region, account.role, endpoints.get("sts"))
