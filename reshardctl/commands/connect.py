"""Sessions, endpoints, and the ports of a command; and stores that it can only read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reshardctl.commands.observer import Observer
from reshardctl.commands.requests import Account
from reshardctl.config.entries import SERVICES
from reshardctl.consumers.locator import Locator, parse
from reshardctl.errors import Refused, UsageError

if TYPE_CHECKING:
    from reshardctl.aws.client import Session
    from reshardctl.kinesis import Kinesis
    from reshardctl.lineage import Lineage
    from reshardctl.snapshot import Ports
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

    stream: its name or ARN; an ARN names the stream's region, whatever the account's is. store: how
    the store is reached, if not as the stream is.
    """
    from reshardctl.commands.open_store import STORES, Reached, search_of
    from reshardctl.snapshot import Ports

    if store is None:
        _one_region(account, locator, stream)
    endpoints = endpoints_of(account.endpoints)
    session = _session(account, endpoints)
    kinesis = _kinesis(session, account, endpoints, observer, stream)
    search = search_of(stream, account, store or account)
    if store is not None and store != account:
        account, endpoints = store, endpoints_of(store.endpoints)
        session = _session(account, endpoints)
    reached = Reached(
        stream.rpartition("/")[2], session, account.region, endpoints, time.monotonic, time.sleep,
        observer.files_read, observer.rows_read, search,
    )
    opened = STORES[locator.medium](locator, reached)
    return Ports(kinesis, opened, time.time, time.sleep, observer.interrupted)


def _one_region(account: Account, locator: Locator, stream: str) -> None:
    """UsageError where it is open in which region the consumer's DynamoDB table is.

    The ARN names the stream's. Another one that is merely set, in the environment or in a profile,
    is not taken for the table's: a table of the same name may be in both.
    """
    from reshardctl.kinesis.target import region_in

    own, spec = region_in(stream), locator.spec
    in_dynamodb = locator.medium == "dynamodb" or spec.log_table(locator.options) is not None
    if not own or account.region or not in_dynamodb:
        return
    other = region_set(account)
    if other is None:
        raise UsageError(
            f"no region is set for table {locator.target}",
            f"add --region {own}, that of the stream's ARN, or set AWS_DEFAULT_REGION",
        )
    if other != own:
        raise UsageError(
            f"stream {stream.rpartition('/')[2]} is in {own}, and the region that is set is "
            f"{other}: in which of them is the table of {locator.text}?",
            f"add --region {own} or --region {other}: it is the table's, and the ARN names the "
            "stream's",
        )


def listed(account: Account, stream: str, observer: Observer) -> tuple[Lineage, float]:
    """A stream alone: its listing, and the Unix second at which it was read."""
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


def region_set(account: Account) -> str | None:
    """The region that an option, the environment or the profile sets. Calls nothing."""
    from reshardctl.aws.client import session_of

    region: str | None = session_of(account.profile, account.region, None, None).region_name
    return region


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

    return session_of(account.profile, account.region, account.role, endpoints.get("sts"))


MEDIA = frozenset({"quickwit-http", "quickwit-https"})


def only_read(locator: Locator, dry_run: bool, out: Path | None) -> None:
    """Raises Refused, before any read, for a write to such a store or a plan of one."""
    if locator.medium not in MEDIA or (dry_run and out is None):
        return
    from reshardctl.stores.quickwit.rest import READ_ONLY, WHERE

    raise Refused(f"{locator.text} cannot be written to: {READ_ONLY}", WHERE)
