"""A fake Kinesis with streams that were resharded, and readers over HTTP and in process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3

from reshardctl.kinesis import Kinesis
from reshardctl.testing import FakeKinesis, load_topology, serve

CREATED = 1_795_232_267
ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"

SPLIT: dict[str, Any] = {
    "name": "orders",
    "created": CREATED,
    "now": 3600,
    "shards": [
        {"id": 0, "range": ["0", "1/2"], "close": 600, "records": {"n": 4, "from": 10, "to": 590}},
        {"id": 1, "range": ["1/2", "1"], "records": {"n": 4, "from": 10, "to": 2390}},
        {"id": 2, "range": ["0", "1/4"], "parents": [0]},
        {"id": 3, "range": ["1/4", "1/2"], "parents": [0]},
    ],
}
"""Two shards; 0 was split into 2 and 3 after ten minutes; an hour old; 2 and 3 are empty."""


def split_stream(**changes: Any) -> FakeKinesis:
    return load_topology({**SPLIT, **changes})


def wide_stream(count: int) -> FakeKinesis:
    """An active stream of `count` shards."""
    fake = FakeKinesis()
    fake.client().create_stream(StreamName="orders", ShardCount=count)
    fake.settle()
    fake.calls.clear()
    return fake


@dataclass
class Asked:
    """A reader, and what it did besides: waits, progress. `clock` is the fake's."""

    kinesis: Kinesis
    waits: list[float] = field(default_factory=list)
    progress: list[int] = field(default_factory=list)


Open = Callable[..., Asked]


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


def in_process(fake: FakeKinesis) -> Asked:
    """The same without HTTP."""
    asked = Asked(None)  # type: ignore[arg-type]
    asked.kinesis = Kinesis.of_client(fake.client(), **_seams(fake, asked))
    return asked


def _seams(fake: FakeKinesis, asked: Asked) -> dict[str, Any]:
    waits = asked.waits

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        fake.clock.advance(seconds)

    return {"clock": fake.clock.now, "sleep": sleep, "progress": asked.progress.append}
