"""Both servers, with their data, on free ports of 127.0.0.1."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from reshardctl.demo import scene
from reshardctl.demo.planting import plant, remove
from reshardctl.errors import UsageError, install
from reshardctl.testing import serve

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The URLs of the servers."""

    kinesis: str
    dynamodb: str


@contextmanager
def seeded(now: float, age: int = scene.AGE) -> Iterator[Endpoints]:
    """Runs both servers for as long as the context lasts. now: Unix seconds. age: the stream's.

    Raises UsageError if moto is not installed.
    """
    with _dynamodb() as dynamodb, serve(scene.stream_as_of(now, age)) as kinesis:
        table = scene.table_description()
        plant(dynamodb, scene.REGION, table, scene.leases_as_of(now, age))
        try:
            yield Endpoints(kinesis.url, dynamodb)
        finally:
            remove(dynamodb, scene.REGION, table["TableName"])


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
