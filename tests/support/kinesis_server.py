"""The fake Kinesis as a server on a free loopback port, which answers this process without HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HeadersDict
from botocore.exceptions import ConnectionClosedError
from moto.core.botocore_stubber import MockRawResponse

from reshardctl.testing import FakeKinesis, serve
from reshardctl.testing.http import Exchange

_running: dict[str, FakeKinesis] = {}
"""The fakes of this process, by the URL of requests."""


@contextmanager
def kinesis_server(fake: FakeKinesis) -> Iterator[str]:
    """The URL of a server that lives as long as the context."""
    with serve(fake) as server:
        _running[f"{server.url}/"] = fake
        try:
            yield server.url
        finally:
            del _running[f"{server.url}/"]


def answered(request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
    """What the server would send, from the code that it runs; `None` for what is not its request.

    Handles botocore's event `before-send`. A connection and a thread take longer than the answer.
    """
    fake = _running.get(request.url)
    return fake and _Direct(fake, request).answer


class _Direct(Exchange):
    """An exchange without a connection."""

    answer: AWSResponse

    def __init__(self, fake: FakeKinesis, request: AWSPreparedRequest) -> None:
        self.server: Any = SimpleNamespace(fake=fake)
        self._sent = request
        self.headers = HeadersDict({
            name: value if isinstance(value, str) else value.decode()
            for name, value in request.headers.items()
        })  # fmt: skip
        self.do_POST()

    def _body(self) -> bytes:
        return self._sent.body

    def _send(self, status: int, body: bytes, code: str | None = None) -> None:
        headers = self._told(body, code)
        self.answer = AWSResponse(self._sent.url, status, headers, MockRawResponse(body))

    def _hang_up(self) -> None:
        raise ConnectionClosedError(endpoint_url=self._sent.url)
