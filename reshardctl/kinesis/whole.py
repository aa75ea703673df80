"""Answers that are read from the connection at once.

botocore reads an answer in pieces of 64 KiB and joins them; for a page of records that takes as
long as parsing it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

from botocore.awsrequest import AWSResponse
from botocore.endpoint import EndpointCreator
from botocore.exceptions import ResponseStreamingError
from botocore.session import Session, get_session
from botocore.utils import ensure_boolean
from urllib3.exceptions import HTTPError


def take_whole(client: Any) -> None:
    """Makes this client of Kinesis read the body of each answer with one call.

    botocore still signs and judges. Requests are sent over connections of our own, which are made
    as botocore makes the client's: with its timeouts, proxies, certificates and socket options.
    """
    config, session = client.meta.config, get_session()
    endpoint = EndpointCreator(client.meta.events).create_endpoint(
        client.meta.service_model, client.meta.region_name, client.meta.endpoint_url,
        verify=session.get_config_variable("ca_bundle"),
        timeout=(config.connect_timeout, config.read_timeout),
        max_pool_connections=config.max_pool_connections,
        socket_options=_socket_options(_keeps_alive(session)),
        proxies=config.proxies,
        client_cert=config.client_cert,
        proxies_config=config.proxies_config,
    )  # fmt: skip

    def send(request: Any, **_: object) -> AWSResponse:
        request.stream_output = True  # leaves the body to be read here
        answer = endpoint.http_session.send(request)
        try:
            body = answer.raw.read()
        except HTTPError as error:
            raise ResponseStreamingError(error=error) from error
        return AWSResponse(answer.url, answer.status_code, answer.headers, _Body(body))

    # The first answer to the event replaces what botocore would have sent and received.
    client.meta.events.register("before-send.kinesis", send, unique_id="reshardctl-whole")


def _keeps_alive(session: Session) -> bool:
    """Whether AWS's configuration sets `tcp_keepalive`; older releases have no variable for it."""
    told = session.get_config_variable("tcp_keepalive")
    if told is None:
        told = session.get_scoped_config().get("tcp_keepalive")
    return bool(ensure_boolean(told or False))


def _socket_options(keep_alive: bool) -> list[tuple[int, int, int]]:
    """Botocore's own choice, which create_endpoint leaves to its caller.

    Without TCP_NODELAY the body of a request waits until its headers are acknowledged, on Linux for
    up to 40 ms.
    """
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    if keep_alive:
        options.append((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1))
    return options


class _Body(NamedTuple):
    """What AWSResponse reads a body from."""

    whole: bytes

    def stream(self) -> Iterator[bytes]:
        """One piece."""
        yield self.whole
