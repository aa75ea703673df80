"""moto's DynamoDB and S3 as a server on a free loopback port, and lease tables in it."""

from __future__ import annotations

import base64
import itertools
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import RLock
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HeadersDict
from botocore.hooks import EventAliaser
from botocore.useragent import sanitize_user_agent_string_component as sanitized
from moto.core.botocore_stubber import MockRawResponse
from moto.core.request import normalize_request
from moto.core.responses import ActionResult, BaseResponse
from moto.core.serialize import AttributePickerContext, ResponseSerializer, XFormedAttributePicker
from moto.core.utils import method_names_from_class
from moto.dynamodb.responses import DynamoHandler
from moto.s3.responses import S3Response
from moto.server import ThreadedMotoServer

from reshardctl.model import Image
from reshardctl.stores.dynamodb import DynamoDb
from tests.support.spared_client import spare, spare_numbers

REGION = "us-east-1"
_names, _requests = itertools.count(), itertools.count()
_ONE_AT_A_TIME = RLock()
_running: set[str] = set()
"""The servers of this process, as the URLs of requests begin."""


@contextmanager
def lease_server() -> Iterator[str]:
    """The URL of a server that lives as long as the context."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with (
        patch.object(DynamoHandler, "call_action", _one_at_a_time(DynamoHandler.call_action)),
        patch.object(ResponseSerializer, "get_value", _found(ResponseSerializer.get_value)),
        patch("moto.core.responses.method_names_from_class", cache(method_names_from_class)),
        patch("botocore.useragent.sanitize_user_agent_string_component", cache(sanitized)),
        patch.object(EventAliaser, "_alias_event_name", cache(EventAliaser._alias_event_name)),
        # Half of what a signature takes, and nobody here checks one.
        patch("botocore.auth.SigV4Auth.canonical_request", lambda *_: ""),
        spare_numbers(),
    ):
        server.start()
        try:
            host, port = server.get_host_and_port()
            url = f"http://{host}:{port}"
            _running.add(f"{url}/")
            yield url
        finally:
            _running.discard(f"{url}/")
            server.stop()


def answered(request: AWSPreparedRequest, event_name: str, **_: Any) -> AWSResponse | None:
    """What moto answers to a call, without HTTP between them: connecting, and another thread, take
    longer than the answer. `None` for what goes over HTTP all the same: what is not of a server of
    this process, as behind a proxy, other services than DynamoDB and S3, and a region that moto
    does not know: its server answers that with an error.

    Handles botocore's event `before-send`.
    """
    if not request.url.startswith(tuple(_running)):
        return None
    service = event_name.split(".")[1]
    try:
        if service == "dynamodb":
            status, headers, body = _Direct.dispatch(request)
        elif service == "s3":
            told = normalize_request(request)
            _bucket, _, key = urlsplit(request.url).path.removeprefix("/").partition("/")
            dispatch = S3Response.key_dispatch if key else S3Response.bucket_dispatch
            status, headers, body = dispatch(told, told.raw_url, told.headers)
        else:
            return None
    except KeyError:
        return None
    return AWSResponse(request.url, status, headers, MockRawResponse(body))


class _Direct(DynamoHandler):
    """moto's DynamoDB, told of a request as botocore prepared it.

    To take it apart as any service's, with a query, a form and files, takes as long as to answer.
    """

    def setup_class(self, request: Any, *_: Any, **__: Any) -> None:
        self.headers = HeadersDict({
            name: value if isinstance(value, str) else value.decode()
            for name, value in request.headers.items()
        })  # fmt: skip
        self.method, self.uri, self.uri_match = request.method, request.url, {}
        self.querystring: Any = {}
        self.region = self.get_region_from_url(self, request.url)
        self.response_headers = {"server": "amazon.com"}
        self.access_key = self.get_access_key()
        self.current_account = self.get_current_account()
        if b'"B' not in request.body:
            self.params = json.loads(request.body)
            return
        self.parse_parameters(SimpleNamespace(  # type: ignore[arg-type]
            method=request.method, values={}, headers=self.headers, data=request.body, path="/",
            content_type=self.headers["Content-Type"],
        ))  # fmt: skip

    def call_action(self) -> Any:
        """moto's own also reckons a checksum, which botocore does not ask for here."""
        self.body = self.params
        with _ONE_AT_A_TIME:
            return BaseResponse.call_action(self)

    @staticmethod
    def _enrich_response(headers: dict[str, str], body: Any) -> tuple[dict[str, str], Any]:
        headers["x-amzn-requestid"] = f"REQUEST{next(_requests)}"
        return headers, body

    def serialized(self, action_result: ActionResult) -> Any:
        """moto looks each member of the service's model up in the result. It is plain JSON already,
        but for bytes and errors, and botocore reads of it what the model has."""
        try:
            return 200, self.response_headers, json.dumps(action_result.result)
        except TypeError:
            return super().serialized(action_result)


def _one_at_a_time(call: Any) -> Any:
    """moto looks at a condition and then writes, with room between the two for another request;
    the service does both at once."""
    def locked(handler: Any) -> Any:
        with _ONE_AT_A_TIME:
            return call(handler)

    return locked


def _found(get_value: Any) -> Any:
    """Looks a member up in a dictionary by the names that moto looks for, and makes them once: to
    make them for each absent member of each attribute takes half the time of a scan."""
    picker = XFormedAttributePicker()

    @cache
    def names(key: str, shape: Any) -> dict[str, None]:
        return dict.fromkeys(picker.get_possible_keys(AttributePickerContext({}, key, shape)))

    def found(serializer: Any, value: Any, key: str, shape: Any) -> Any:
        if type(value) is not dict or serializer._value_picker.response_transformers:
            return get_value(serializer, value, key, shape)
        return next((value[name] for name in names(key, shape) if name in value), None)

    return found


class SharedClients(boto3.Session):
    """A session that makes each client once: making one takes longer than most tests."""

    def __init__(self) -> None:
        super().__init__(
            aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
        )
        self._made: dict[str, Any] = {}

    def client(self, *arguments: Any, config: Any = None, **options: Any) -> Any:
        name = repr((arguments, sorted(options.items()), config and config.retries))
        if name not in self._made:
            client = super().client(*arguments, config=config, **options)
            client.meta.events.register("before-send", answered)
            spare(client, "testing")
            self._made[name] = client
        return self._made[name]


@cache
def session() -> SharedClients:
    """One for all tests."""
    return SharedClients()


def delete_tables(url: str) -> None:
    """Deletes what earlier tests left: every server of a process has the same tables."""
    client = session().client("dynamodb", endpoint_url=url)
    for name in table_names(client):
        client.delete_table(TableName=name)


def table_names(client: Any) -> list[str]:
    """The names of all tables, however many pages they are on."""
    pages = client.get_paginator("list_tables").paginate()
    return [name for page in pages for name in page["TableNames"]]


@dataclass
class Clock:
    """Time that passes only by sleeping."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class LeaseTable:
    """A table of its own for one test; the contract suite's Store."""

    def __init__(
        self, url: str, *, capacity: int = 0, key: str = "leaseKey", name: str = "",
        region: str = REGION,
    ) -> None:
        self.url = url
        self.name = name or f"leases-{next(_names)}"
        self.clock = Clock()
        self.boto = session().client("dynamodb", endpoint_url=url, region_name=region)
        billing: dict[str, Any] = {"BillingMode": "PAY_PER_REQUEST"}
        if capacity:
            units = {"ReadCapacityUnits": capacity, "WriteCapacityUnits": capacity}
            billing = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
        self.boto.create_table(
            TableName=self.name,
            KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
            **billing,
        )

    def medium(self, boto_session: Any = None) -> DynamoDb:
        return DynamoDb(
            boto_session or session(),
            self.name,
            endpoint_url=self.url,
            clock=self.clock.read,
            sleep=self.clock.sleep,
        )

    def plant(self, *images: Image) -> None:
        """Puts items of different keys in, over what is there."""
        puts = [{"PutRequest": {"Item": {
            name: _bytes(value) for name, value in image.attributes.items()
        }}} for image in images]  # fmt: skip
        for at in range(0, len(puts), 25):  # the most that one request may hold
            self.boto.batch_write_item(RequestItems={self.name: puts[at:at + 25]})

    def pull(self, key: str) -> None:
        self.boto.delete_item(TableName=self.name, Key={"leaseKey": {"S": key}})

    def items(self) -> list[dict[str, Any]]:
        """Every item as boto3 gives it."""
        pages = self.boto.get_paginator("scan").paginate(TableName=self.name)
        found = [item for page in pages for item in page["Items"]]
        return sorted(found, key=lambda item: item["leaseKey"]["S"])


def _bytes(value: Any) -> Any:
    """Binary values out of base64, written apart from the code under test."""
    ((kind, body),) = value.items()
    if kind == "B":
        return {"B": base64.b64decode(body)}
    if kind == "BS":
        return {"BS": [base64.b64decode(one) for one in body]}
    if kind == "L":
        return {"L": [_bytes(one) for one in body]}
    if kind == "M":
        return {"M": {name: _bytes(one) for name, one in body.items()}}
    return value
