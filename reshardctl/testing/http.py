"""The fake over HTTP: AWS JSON 1.1 as boto3, the aws CLI and the Java SDKs speak it."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import socket
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, cast

from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.requests import ApiError, NoAnswerError

_TARGET = "Kinesis_20131202."
_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/([a-z0-9-]+)/")
_JSON = "application/x-amz-json-1.1"
_NO_CBOR = (
    "This server speaks AWS JSON 1.1 only. Turn CBOR off: AWS_CBOR_DISABLE=1, "
    "-Dcom.amazonaws.sdk.disableCbor=1 (SDK v1) or -Daws.cborEnabled=false (SDK v2)."
)


class Server:
    """A running server on 127.0.0.1."""

    def __init__(self, fake: FakeKinesis, port: int) -> None:
        self._http = _Http(("127.0.0.1", port), Exchange)
        self._http.fake = fake
        self._thread = Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The endpoint for clients."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def serve(fake: FakeKinesis, port: int = 0) -> Server:
    """Serves the fake on 127.0.0.1 within a `with` block; port 0 = a free one."""
    return Server(fake, port)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    # A client that keeps its connection open must not hold up the end of a test.
    block_on_close = False
    request_queue_size = 128
    fake: FakeKinesis


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536

    def do_POST(self) -> None:
        """Answer a call of the API."""
        body = self._body()
        try:
            answer = self._answer(body)
        except ApiError as error:
            self._send(error.status, _error_body(error), error.code)
        except NoAnswerError:
            self._hang_up()
        except Exception as bug:
            # Our bug or a fault's: a client must see it at once, not wait for an answer.
            self._send(500, _error_body(ApiError("InternalFailure", repr(bug))), "InternalFailure")
        else:
            self._send(200, _encoded(answer))

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def _chunks(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _answer(self, body: bytes) -> dict[str, Any]:
        if "cbor" in self.headers.get("Content-Type", ""):
            raise ApiError("SerializationException", _NO_CBOR)
        target = self.headers.get("X-Amz-Target", "")
        if not target.startswith(_TARGET):
            raise ApiError("UnknownOperationException", f"no such target: {target!r}")
        action = target.removeprefix(_TARGET)
        scope = _SCOPE.search(self.headers.get("Authorization", ""))
        region = scope.group(1) if scope else None
        fake = cast(_Http, self.server).fake
        return fake.call(action, _decoded(action, body), region)

    def _send(self, status: int, body: bytes, code: str | None = None) -> None:
        self.send_response(status)
        for name, value in self._told(body, code).items():
            self.send_header(name, value)
        # One write: some clients ask again when the body comes after the head (seen in Go).
        wire, whole = self.wfile, io.BytesIO()
        self.wfile = whole
        try:
            self.end_headers()
        finally:
            self.wfile = wire
        wire.flush()
        self.connection.sendall(whole.getvalue() + body)

    def _told(self, body: bytes, code: str | None) -> dict[str, str]:
        return {
            "x-amzn-RequestId": str(uuid.uuid4()),
            "Content-Type": _JSON,
            "Content-Length": str(len(body)),
            **({} if code is None else {"x-amzn-ErrorType": code}),
        }

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, template: str, *args: object) -> None:
        """Nothing: the call log of the fake has everything."""


def _error_body(error: ApiError) -> bytes:
    return json.dumps({"__type": error.code, "message": error.message}).encode()


def _decoded(action: str, body: bytes) -> dict[str, Any]:
    try:
        params = json.loads(body or b"{}")
        if not isinstance(params, dict):
            raise ValueError("not an object")
        params = {name: value for name, value in params.items() if value is not None}
        entries = params.get("Records", []) if action == "PutRecords" else [params]
        for entry in entries:
            if isinstance(entry.get("Data"), str):
                entry["Data"] = base64.b64decode(entry["Data"], validate=True)
    except (ValueError, AttributeError, binascii.Error) as broken:
        raise ApiError("SerializationException", str(broken)) from broken
    return params


def _encoded(answer: dict[str, Any]) -> bytes:
    records = answer.get("Records", ())
    for record in records:
        if "Data" in record:
            record["Data"] = base64.b64encode(record["Data"]).decode()
    return json.dumps(answer, separators=(",", ":")).encode()
