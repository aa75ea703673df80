"""An index's metadata from a node's REST interface: read, never written.

`GET /api/v1/indexes/<index>` answers with the same text that PostgreSQL holds, whatever the
metastore is. No call of that interface sets a position (REST API reference; quickwit-serve
of 0.8.2 and 0.9.0).
"""

from __future__ import annotations

import http.client
import shlex
import ssl
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote, urlsplit

from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Image, Step
from reshardctl.model.retry import asking
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.document import complaints_about
from reshardctl.stores.quickwit.indexes import CodecOf

PORTS = {"http": 7280, "https": 443}
"""Quickwit's own port; TLS needs a proxy."""
ANSWER, WHOLE = 10.0, 60.0
"""Seconds for each piece of an answer, and for all of it."""
LARGEST = 64 * 1024 * 1024
"""Bytes of the largest answer: it holds no splits."""
_PIECE = 1 << 16
WHERE = (
    "write where its metastore_uri points: quickwit+postgres://USER@HOST/DATABASE, "
    "quickwit+s3://BUCKET/PREFIX or quickwit+file:///PATH"
)
READ_ONLY = "Quickwit's REST interface has no call that sets a position"


class Rest:
    """See `Store`. One index of one node."""

    max_writes = 10_000

    def __init__(
        self, scheme: str, target: str, codec: CodecOf, index: str, source: str,
        clock: Callable[[], float],
    ) -> None:
        """Connects to nothing yet.

        target: HOST[:PORT]. codec: of an index's metadata. clock: monotonic seconds.
        """
        self._scheme, self._clock = scheme, clock
        try:
            address = urlsplit(f"//{target}")
            self._port = address.port or PORTS[scheme]
        except ValueError as error:
            raise UsageError(f"{target!r}: {error}", "write it as HOST[:PORT]") from None
        self._host = address.hostname or ""
        self._index = index
        self._codec = codec(index, source, True)

    @property
    def location(self) -> str:
        """The address that is asked."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{self._scheme}://{host}:{self._port}{self._path}"

    @property
    def _path(self) -> str:
        return f"/api/v1/indexes/{quote(self._index, safe='')}"

    def identity(self) -> Mapping[str, str]:
        """The address, and the index's uid."""
        text = self._text()
        with complaints_about(self.location):
            identity = self._codec.identity(text)
        return {"medium": "quickwit-rest", "arn": self.location, **identity}

    def read(self) -> list[Image]:
        """Every row."""
        text = self._text()
        with complaints_about(self.location):
            return self._codec.images(text)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        rows = {image.key: image for image in self.read()} if keys else {}
        return {key: rows.get(key) for key in keys}

    def write(self, step: Step, token: str) -> WriteResult:  # noqa: ARG002
        """Always refused."""
        raise Refused(READ_ONLY, WHERE)

    def _text(self) -> str:
        if not self._index:
            raise UsageError(
                f"{self._scheme}://{self._host}:{self._port}: which index is not said",
                "add index=INDEX",
            )
        try:
            with asking(self.location):
                answer = self._answer()
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise CannotTell(
                f"{self.location} cannot be reached: {reason}",
                "name a node that runs: curl http://NODE:7280/health/livez",
            ) from None
        with complaints_about(self.location):
            return answer.decode()

    def _answer(self) -> bytes:
        """The body of a 200. Redirects are not followed."""
        connection = self._connection()
        until = self._clock() + WHOLE
        try:
            connection.request("GET", self._path, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise self._refusal(answer)
            body = bytearray()
            while piece := answer.read1(_PIECE):
                body += piece
                if len(body) > LARGEST:
                    raise CannotTell(
                        f"{self.location}: an answer of more than {LARGEST} bytes",
                        "name a node of Quickwit: curl http://NODE:7280/api/v1/indexes",
                    )
                if self._clock() > until:
                    raise TimeoutError(f"no whole answer in {WHOLE:g} s")
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
            return bytes(body)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._scheme == "http":
            return http.client.HTTPConnection(self._host, self._port, timeout=ANSWER)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=ANSWER, context=ssl.create_default_context()
        )

    def _refusal(self, answer: http.client.HTTPResponse) -> CannotTell | UsageError:
        status = f"{self.location}: answered {answer.status} {answer.reason}".rstrip()
        if answer.status == http.client.NOT_FOUND:
            every = shlex.quote(f"{self._scheme}://{self._host}:{self._port}/api/v1/indexes")
            return UsageError(
                f"{status}: there is no index {self._index}, or no Quickwit",
                f"which there are: curl {every}",
            )
        if 300 <= answer.status < 400:
            there = answer.getheader("Location", "somewhere else")
            return CannotTell(
                f"{status}, which leads to {there!r}: that is not followed", "name that place"
            )
        return CannotTell(status, "try again, or ask another node")
