"""A fake Kinesis with streams that were resharded, and readers over HTTP and in process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3

from reshardctl.kinesis import Kinesis
from reshardctl.testing import FakeKinesis, serve
from tests.unit.testing.samples import CREATED, SPLIT, new_stream, split_stream

__all__ = ["ARN", "CREATED", "SPLIT", "Asked", "in_process", "over_http", "split_stream"]

ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"


def wide_stream(count: int) -> FakeKinesis:
    """An active stream of `count` shards."""
    fake = new_stream(count)
    fake.calls.clear()
    return fake


@dataclass
class Asked:
    """A reader, and what it did besides: waits, progress. `clock` is the fake's."""

    kinesis: Kinesis
    waits: list[float] = field(default_factory=list)
    progress: list[int] = field(default_factory=list)


@contextmanager
def over_http(fake: FakeKinesis, **session: Any) -> Iterator[Asked]:
    """A reader that talks to the fake over HTTP; sleeping moves the fake's clock.

    Its waits are those before the end. A listing is begun in a thread beside the first summary; if
    the summary fails, the thread goes on, and waits for a server that is no longer there.
    """
    with serve(fake) as server:
        asked = Asked(None)  # type: ignore[arg-type]
        asked.kinesis = Kinesis(
            boto3.Session(**session), endpoint_url=server.url, **_seams(fake, asked)
        )
        try:
            yield asked
        finally:
            asked.waits = list(asked.waits)


def in_process(fake: FakeKinesis, **more: Any) -> Asked:
    """The same without HTTP."""
    asked = Asked(None)  # type: ignore[arg-type]
    asked.kinesis = Kinesis.of_client(fake.client(), **_seams(fake, asked), **more)
    return asked


def _seams(fake: FakeKinesis, asked: Asked) -> dict[str, Any]:
    waits = asked.waits

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        fake.clock.advance(seconds)

    return {"clock": fake.clock.now, "sleep": sleep, "progress": asked.progress.append}
