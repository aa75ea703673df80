"""Both servers, seeded, on free ports of 127.0.0.1."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from reshardctl.demo import scene
from reshardctl.demo.planting import plant
from reshardctl.errors import UsageError
from reshardctl.testing import serve

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the servers listen, as URLs."""

    kinesis: str
    dynamodb: str


@contextmanager
def seeded(now: float) -> Iterator[Endpoints]:
    """Both servers for as long as the context lasts. now: Unix seconds.

    Raises UsageError if moto is not installed.
    """
    with _dynamodb() as dynamodb, serve(scene.stream_as_of(now)) as kinesis:
        plant(dynamodb, scene.REGION, scene.table_description(), scene.leases_as_of(now))
        yield Endpoints(kinesis.url, dynamodb)


@contextmanager
def _dynamodb() -> Iterator[str]:
    try:
        from moto.server import ThreadedMotoServer
    except ImportError as missing:
        raise UsageError(
            f"the demo needs moto's DynamoDB server ({missing})",
            "pip install 'reshardctl[demo]'",
        ) from None
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=LOOPBACK, port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()
