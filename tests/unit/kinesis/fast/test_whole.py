"""Answers that are taken at once are the same answers, and broken ones are none."""

from __future__ import annotations

import gc
import json
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
import pytest
from botocore.exceptions import (
    EndpointConnectionError,
    InvalidConfigError,
    ResponseStreamingError,
)

from reshardctl.errors import UsageError
from reshardctl.kinesis.fast import FastReader, Reach

RECORD = {
    "SequenceNumber": "4968", "ApproximateArrivalTimestamp": 1795232277.5, "Data": "czA=",
    "PartitionKey": "k" * 100_000,
}  # fmt: skip
BODY = json.dumps({"Records": [RECORD] * 3, "MillisBehindLatest": 0}).encode()


class Kinesis:
    """Answers as the next of `ways` says, then always whole."""

    def __init__(self, *ways: str) -> None:
        self.ways, self.calls = list(ways), 0

    def answer(self, exchange: BaseHTTPRequestHandler) -> None:
        exchange.rfile.read(int(exchange.headers["Content-Length"]))
        self.calls += 1
        way = self.ways.pop(0) if self.ways else "whole"
        exchange.send_response(200)
        if way == "chunked":
            exchange.send_header("Transfer-Encoding", "chunked")
            exchange.end_headers()
            for part in (BODY[:99], BODY[99:]):
                exchange.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            exchange.wfile.write(b"0\r\n\r\n")
            return
        exchange.send_header("Content-Length", str(len(BODY)))
        exchange.end_headers()
        exchange.wfile.write(BODY if way == "whole" else BODY[:-9])
        exchange.close_connection = way != "whole"


@pytest.fixture
def kinesis(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    service = Kinesis(*request.param)

    class Exchange(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            service.answer(self)

        def log_message(self, template: str, *args: object) -> None:
            pass

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "made-up")
    http = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    thread = Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield service, Reach("us-east-1", f"http://127.0.0.1:{http.server_address[1]}")
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.mark.parametrize(
    "kinesis", [(), ("chunked",), ("cut",), ("cut", "cut")], indirect=True, ids=str
)
def test_an_answer_is_whole_or_asked_for_again(kinesis: tuple[Kinesis, Reach]) -> None:
    service, reach = kinesis
    cut = service.ways.count("cut")
    waits: list[float] = []
    page = FastReader(reach, "orders", sleep=waits.append).page("AAA=")
    assert [one.partition_key for one in page.records] == [RECORD["PartitionKey"]] * 3
    assert service.calls == 1 + cut and len(waits) == cut


@pytest.mark.parametrize("kinesis", [("cut",)], indirect=True)
def test_a_broken_answer_is_an_error_of_botocores(kinesis: tuple[Kinesis, Reach]) -> None:
    client = kinesis[1].client()
    with pytest.raises(ResponseStreamingError):
        client.get_records(ShardIterator="AAA=")


@pytest.mark.parametrize("kinesis", [()], indirect=True)
def test_the_proxy_of_the_environment_is_used(kinesis, monkeypatch):
    service, reach = kinesis
    monkeypatch.setenv("HTTP_PROXY", str(reach.endpoint_url))
    page = FastReader(Reach("us-east-1", "http://kinesis.invalid"), "orders").page("AAA=")
    assert len(page.records) == 3 and service.calls == 1


def test_the_certificates_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore refuses a blank name since 1.43."""
    monkeypatch.setenv("AWS_CA_BUNDLE", " ")
    try:
        boto3.client("kinesis", "us-east-1")
    except InvalidConfigError:
        with pytest.raises(UsageError, match="ca_bundle"):
            Reach("us-east-1", "https://127.0.0.1:1").client()
    else:
        Reach("us-east-1", "https://127.0.0.1:1").client()


def test_nobody_listening_is_an_error_of_botocores() -> None:
    client = Reach("us-east-1", "http://127.0.0.1:1").client()
    with pytest.raises(EndpointConnectionError):
        client.get_records(ShardIterator="AAA=")


@pytest.mark.parametrize("keep_alive", [False, True])
@pytest.mark.parametrize("kinesis", [()], indirect=True)
def test_connections_are_set_up_as_botocore_sets_them_up(
    kinesis: tuple[Kinesis, Reach], keep_alive: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Without TCP_NODELAY each request waits for the acknowledgement of its own headers, 40 ms on
    Linux."""
    config = tmp_path / "config"
    config.write_text("[default]\ntcp_keepalive = true\n" if keep_alive else "[default]\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    _, reach = kinesis
    port = int(str(reach.endpoint_url).rpartition(":")[2])
    ours = reach.client()
    ours.get_records(ShardIterator="AAA=")
    found = options_of_connections(port)
    plain = boto3.session.Session().client(
        "kinesis", "us-east-1", endpoint_url=str(reach.endpoint_url)
    )
    plain.get_records(ShardIterator="AAA=")
    assert found == options_of_connections(port) == [(True, keep_alive)]


def options_of_connections(port: int) -> list[tuple[bool, bool]]:
    """TCP_NODELAY and SO_KEEPALIVE of this process's connections to that port, without doubles."""
    wanted = (socket.IPPROTO_TCP, socket.TCP_NODELAY), (socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    found = set()
    for one in gc.get_objects():
        if type(one) is not socket.socket or one.fileno() < 0:
            continue
        try:
            connected = one.getpeername()[1] == port
        except (OSError, IndexError):
            continue
        if connected:
            nodelay, keepalive = (bool(one.getsockopt(*option)) for option in wanted)
            found.add((nodelay, keepalive))
    return sorted(found)
