"""Both servers of the demo, with their data, on free ports of 127.0.0.1.

The data are a recorded stream and its lease table, moved to the present. The lease table is written
by plain HTTP: boto3 would read the operator's own profiles and proxies. The commands' environment
shows an AWS client these servers and nothing else of AWS. `--serve` keeps them until they are
stopped, and a file tells `--env` where they are.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import signal
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from socket import create_connection
from threading import Event
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.errors import UsageError, install
from reshardctl.journal.log import state_dir
from reshardctl.testing import FakeKinesis, load_topology, serve
from reshardctl.testing.shards import SequenceNumberError, parse

_TARGET = "DynamoDB_20120810."
_JSON = "application/x-amz-json-1.0"
_SECONDS = 30


def plant(
    url: str, region: str, table: Mapping[str, Any], items: Iterable[Mapping[str, Any]]
) -> None:
    """Creates `table` (as CreateTable takes it) and puts `items` (DynamoDB JSON) into it."""
    _call(url, region, "CreateTable", table)
    for item in items:
        _call(url, region, "PutItem", {"TableName": table["TableName"], "Item": item})


def remove(url: str, region: str, table: str) -> None:
    """Deletes the demo's table: moto keeps it for as long as the process lives."""
    _call(url, region, "DeleteTable", {"TableName": table})


def _call(url: str, region: str, action: str, body: Mapping[str, Any]) -> None:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=_SECONDS)
    # The server takes the region from the signature's scope and checks nothing of the rest.
    scope = f"Credential=demo/20260101/{region}/dynamodb/aws4_request"
    headers = {
        "Content-Type": _JSON,
        "X-Amz-Target": _TARGET + action,
        "Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=demo",
    }
    try:
        connection.request("POST", "/", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
    finally:
        connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{action} on the demo's DynamoDB: {answer.status} {text}")


STREAM = "orders"
TABLE = "orders-reader"
JOURNAL = "orders.jsonl"
REGION = "us-east-1"
AGE = 4000
"""Seconds from the creation of the stream until the demo starts."""
RECORDED = 1795232267
"""Unix seconds at which the recorded stream was created, from its sequence numbers."""
LOST = frozenset({"shardId-000000000004", "shardId-000000000005"})
"""Leases that the recording has and the demo has not: lost before a record of them was read, for
example by an operator or by a bug of an old release. KCL creates none below a finished parent (runs
on KCL 1.15.3, 2.7.2 and 3.5.1, November 2026)."""

Item = dict[str, Any]
"""An item in DynamoDB JSON."""

# `inspect` takes the clock on the wall for "now", and with it every record of the recording has
# expired. So stream and positions move to today together: the topology is laid out again from a
# creation time 4000 seconds ago, and every number that KCL stored is moved by the same seconds. A
# number is made of times, the shard and an index, so this is the number of the same record of the
# same shard in the stream of today. Nothing else that KCL wrote is touched.


def stream_as_of(now: float, age: int = AGE) -> FakeKinesis:
    """A Kinesis that holds the stream; its clock runs on from `now`, in Unix seconds."""
    table = tomllib.loads(_text("topology.toml"))
    created = creation(now, age)
    return load_topology(table | {"created": created, "now": now - created}, ticking=True)


def leases_as_of(now: float, age: int = AGE) -> list[Item]:
    """The rows of the lease table, without those that are lost."""
    seconds = creation(now, age) - RECORDED
    rows: list[Item] = json.loads(_text("recorded/leases.json"))["Items"]
    return [moved(row, seconds) for row in rows if row["leaseKey"]["S"] not in LOST]


def table_description() -> dict[str, Any]:
    """The arguments of CreateTable that make the table as KCL made it."""
    described: dict[str, Any] = json.loads(_text("recorded/table.json"))
    return described | {"TableName": TABLE}


def creation(now: float, age: int = AGE) -> int:
    """Unix seconds at which the stream was created, as of `now` (Unix seconds)."""
    return int(now) - age


def moved(row: Mapping[str, Any], seconds: int) -> Item:
    """The row with its position `seconds` later; a sentinel such as SHARD_END stays."""
    item = dict(row)
    if "checkpoint" in item:
        item["checkpoint"] = {"S": _moved(item["checkpoint"]["S"], seconds)}
    return item


def _moved(position: str, seconds: int) -> str:
    try:
        number = parse(position)
    except SequenceNumberError:
        return position
    return str(replace(number, epoch=number.epoch + seconds, time=number.time + seconds))


def _text(name: str) -> str:
    return files("reshardctl.demo").joinpath(name).read_text(encoding="utf-8")


LOOPBACK = "127.0.0.1"


class Endpoints(Struct, frozen=True):
    """The URLs of the servers."""

    kinesis: str
    dynamodb: str


@contextmanager
def seeded(now: float, age: int = AGE) -> Iterator[Endpoints]:
    """Runs both servers for as long as the context lasts. now: Unix seconds. age: the stream's.

    Raises UsageError if moto is not installed.
    """
    with _dynamodb() as dynamodb, serve(stream_as_of(now, age)) as kinesis:
        table = table_description()
        plant(dynamodb, REGION, table, leases_as_of(now, age))
        try:
            yield Endpoints(kinesis.url, dynamodb)
        finally:
            remove(dynamodb, REGION, table["TableName"])


@contextmanager
def _dynamodb() -> Iterator[str]:
    try:
        from moto.server import ThreadedMotoServer
    except ImportError as missing:
        raise UsageError(
            f"the demo needs moto's DynamoDB server ({missing})",
            install("demo"),
        ) from None
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=LOOPBACK, port=0, verbose=False)
    with _without_aws_settings():
        server.start()
        try:
            host, port = server.get_host_and_port()
            yield f"http://{host}:{port}"
        finally:
            server.stop()


@contextmanager
def _without_aws_settings() -> Iterator[None]:
    """Hides the operator's profiles from moto, which would load them and fail."""
    before = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    for name in before:
        del os.environ[name]
    nobody = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    os.environ.update(nobody)
    try:
        yield
    finally:
        for name in nobody:
            os.environ.pop(name, None)
        os.environ.update(before)


# Without CBOR: the Kinesis here speaks JSON only. The first is read by version 1 of the Java SDK,
# the second by version 2 (AWS SDK for Java developer guides).
_NO_CBOR = {"AWS_CBOR_DISABLE": "true", "CBOR_ENABLED": "false"}


def settings(endpoints: Endpoints) -> dict[str, str]:
    """Variables that point any AWS client at the servers."""
    return {
        "AWS_ENDPOINT_URL_KINESIS": endpoints.kinesis,
        "AWS_ENDPOINT_URL_DYNAMODB": endpoints.dynamodb,
        "AWS_ACCESS_KEY_ID": "demo",
        "AWS_SECRET_ACCESS_KEY": "demo",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        # The operator's profile must not affect this, nor break it.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": LOOPBACK,
        "no_proxy": LOOPBACK,
        **_NO_CBOR,
    }


def child_environment(parent: Mapping[str, str], endpoints: Endpoints) -> dict[str, str]:
    """The parent's environment without its AWS settings."""
    kept = {name: value for name, value in parent.items() if not name.startswith("AWS_")}
    return kept | settings(endpoints)


# Any terminal's own, which nobody but its shell knows. One of them can lead past the endpoints:
# AWS_IGNORE_CONFIGURED_ENDPOINT_URLS (AWS SDKs and Tools Reference Guide).
_FORGET = (
    "for _aws in $(env | sed -n 's/^\\(AWS_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset \"$_aws\"; done"
)


def exports(endpoints: Endpoints) -> Iterator[str]:
    """Lines for any POSIX shell: they replace its AWS settings by those of the demo."""
    yield _FORGET
    for name, value in settings(endpoints).items():
        yield f"export {name}={shlex.quote(value)}"


_TRY = f"""\
A demo is up on {LOOPBACK}, in memory, until Ctrl-C. In another terminal:

  eval "$(reshardctl demo --env)"   # points its AWS clients at the demo
  reshardctl inspect kcl://{TABLE} --stream {STREAM}
  reshardctl fix kcl://{TABLE} --stream {STREAM} --assume-stopped --journal {JOURNAL}
  reshardctl undo {JOURNAL} --assume-stopped
  aws dynamodb scan --table-name {TABLE}"""


def keep(now: float) -> None:
    """Serves until SIGINT or SIGTERM, and says how to use it. now: Unix seconds.

    Raises UsageError if it cannot be noted where the servers are.
    """
    from reshardctl.console.output import show

    over = Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        over.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with seeded(now) as endpoints, _noted(endpoints):
            show(_TRY.splitlines())
            over.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _note() -> Path:
    return state_dir(os.environ, Path.home()) / "demo.json"


@contextmanager
def _noted(endpoints: Endpoints) -> Iterator[None]:
    """Has `kept` find the servers for as long as the context lasts."""
    note, text = _note(), json.dumps([endpoints.kinesis, endpoints.dynamodb])
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{note}: {error.strerror}", "set RESHARDCTL_STATE_DIR") from None
    try:
        yield
    finally:
        with suppress(OSError):
            if note.read_text(encoding="utf-8") == text:  # no later demo's
                note.unlink()


def kept() -> Endpoints:
    """The servers of the demo that `--serve` keeps. UsageError if there is none."""
    try:
        endpoints = Endpoints(*json.loads(_note().read_text(encoding="utf-8")))
        for url in (endpoints.kinesis, endpoints.dynamodb):
            create_connection((LOOPBACK, urlsplit(url).port or 0), timeout=_SECONDS).close()
    except (OSError, ValueError, TypeError):
        raise UsageError(
            "no demo is being served", "start one in another terminal: reshardctl demo --serve"
        ) from None
    return endpoints
