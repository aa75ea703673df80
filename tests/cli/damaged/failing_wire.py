"""Calls to AWS that change something, and what befalls the one with a chosen number."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from botocore.awsrequest import AWSResponse
from botocore.httpsession import URLLib3Session

from tests.cli.lab import Wire, answered

CHANGING = {
    "PutObject", "DeleteObject", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems",
}  # fmt: skip
Fate = Callable[[Any, str], AWSResponse | None]
"""(request, service) → the answer that is seen; `None` to let the call go its way."""


class FailingWire(Wire):
    """See `Wire`; `fate` befalls the `at`th call of `CHANGING`, counted in `count`."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.at = 0, -1
        self.fate: Fate = lambda _request, _service: None
        self.met: list[str] = []
        """The objects or rows that it befell."""

    def set(self, fate: Fate, at: int) -> None:
        self.count, self.at, self.fate, self.met = 0, at, fate, []

    def sent(self, request: Any, event_name: str, **more: Any) -> AWSResponse | None:
        said = super().sent(request, event_name, **more)
        service, operation = event_name.split(".")[1:]
        if said is not None or operation not in CHANGING:
            return said
        self.count += 1
        if self.count - 1 != self.at:
            return None
        self.met.append(named(request, service))
        return self.fate(request, service)


def named(request: Any, service: str) -> str:
    """The object or the row of a write, as reports name it."""
    if service == "s3":
        _, _, key = unquote(urlsplit(request.url).path).lstrip("/").partition("/")
        return key
    asked = json.loads(request.body)
    key = asked.get("Key") or asked["Item"]
    return f"log/{key['metadataKey']['S']}/{key['metadataSortKey']['S']}"


def refused(_request: Any, service: str) -> AWSResponse | None:
    return _error(service, 403, "AccessDenied" if service == "s3" else "AccessDeniedException")


def answer_lost(request: Any, service: str) -> AWSResponse | None:
    """The service does it, and its answer is another."""
    URLLib3Session().send(request)
    return _error(service, 500, "InternalError" if service == "s3" else "InternalServerError")


def not_done(_request: Any, service: str) -> AWSResponse | None:
    """The same answer, of a service that has not done it."""
    return _error(service, 500, "InternalError" if service == "s3" else "InternalServerError")


def _error(service: str, status: int, code: str) -> AWSResponse:
    if service == "s3":
        return answered(
            status, f"<Error><Code>{code}</Code><Message>said by the test</Message></Error>"
        )
    return answered(status, json.dumps({"__type": f"x#{code}", "message": "said by the test"}))
