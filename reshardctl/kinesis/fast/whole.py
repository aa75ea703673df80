"""Answers that are taken from the connection at once.

botocore reads an answer in pieces of 64 KiB and joins them; for a page of records that takes longer
than all the rest of the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ResponseStreamingError
from urllib3.exceptions import HTTPError


def take_whole(client: Any) -> None:
    """Let this client read the body of each answer with one call.

    botocore goes on to connect, sign, send and judge. Where it keeps what sends (it has no public
    name) nothing is changed if nothing is there.
    """
    endpoint = getattr(client, "_endpoint", None)
    session = getattr(endpoint, "http_session", None)
    if endpoint is not None and session is not None:
        endpoint.http_session = _Session(session)


class _Session:
    """Stands for botocore's."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def send(self, request: Any) -> AWSResponse:
        """The answer, all of it. Any exception of botocore's about connections."""
        request.stream_output = True  # so that the body is left to be read here
        answer = self._session.send(request)
        try:
            body = answer.raw.read()
        except HTTPError as error:
            raise ResponseStreamingError(error=error) from error
        return AWSResponse(answer.url, answer.status_code, answer.headers, _Body(body))

    def close(self) -> None:
        """Close the connections that are kept."""
        self._session.close()


class _Body(NamedTuple):
    """What AWSResponse takes a body from."""

    whole: bytes

    def stream(self) -> Iterator[bytes]:
        """One piece."""
        yield self.whole
