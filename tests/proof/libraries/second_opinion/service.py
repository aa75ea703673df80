"""A Kinesis that is asked through boto3: an emulator, or FakeKinesis over HTTP."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from reshardctl.testing import FakeKinesis
from tests.proof.libraries.second_opinion.shapes import Raw, edge, shard_id

T = TypeVar("T")
WAIT_SECONDS = 30.0
_names = itertools.count()


def client(url: str) -> Any:
    """boto3's client, its retries off: a refusal is an answer here."""
    config = Config(retries={"mode": "standard", "total_max_attempts": 1})
    return boto3.client(
        "kinesis",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=config,
    )


def code_of(call: Callable[..., object], **words: Any) -> str:
    """The error code of a call, or that it was accepted."""
    try:
        call(**words)
    except ClientError as refused:
        return str(refused.response["Error"]["Code"])
    return "accepted"


def answer_of(ask: Callable[[], T]) -> T | str:
    """What was answered, or the code of the error."""
    try:
        return ask()
    except ClientError as refused:
        return str(refused.response["Error"]["Code"])


@dataclass(frozen=True)
class Service:
    """Where the questions go. `fake` is set where time is ours to move."""

    boto: Any
    fake: FakeKinesis | None = None

    def stream(self, shards: int) -> str:
        """The name of a new active stream."""
        name = self.created(shards)
        self.settle(name)
        return name

    def created(self, shards: int) -> str:
        """The name of a stream that is still CREATING."""
        name = f"scene-{next(_names)}"
        self.boto.create_stream(StreamName=name, ShardCount=shards)
        return name

    def status(self, stream: str) -> str:
        return str(self.summary(stream)["StreamStatus"])

    def summary(self, stream: str) -> Raw:
        answer = self.boto.describe_stream_summary(StreamName=stream)
        return dict(answer["StreamDescriptionSummary"])

    def settle(self, stream: str) -> None:
        """Wait until the stream is ACTIVE."""
        if self.fake is not None:
            self.fake.settle()
        ends = time.monotonic() + WAIT_SECONDS
        while self.status(stream) != "ACTIVE":
            assert time.monotonic() < ends, f"{stream} stays {self.status(stream)}"
            time.sleep(0.02)

    def vanish(self, stream: str) -> None:
        """Wait until there is no such stream."""
        if self.fake is not None:
            self.fake.settle()
        ends = time.monotonic() + WAIT_SECONDS
        while code_of(self.boto.describe_stream_summary, StreamName=stream) == "accepted":
            assert time.monotonic() < ends, f"{stream} does not go away"
            time.sleep(0.02)

    def elapse(self) -> float:
        """Let more than a second pass on both sides of the moment (Unix seconds) returned.

        boto3 sends whole seconds.
        """
        if self.fake is not None:
            self.fake.clock.advance(2)
            middle = self.fake.clock.now()
            self.fake.clock.advance(2)
            return middle
        time.sleep(1.1)
        middle = time.time()
        time.sleep(1.1)
        return middle

    def split(self, stream: str, shard: int, at: Fraction) -> None:
        self.boto.split_shard(
            StreamName=stream, ShardToSplit=shard_id(shard), NewStartingHashKey=edge(at)
        )
        self.settle(stream)

    def merge(self, stream: str, shard: int, adjacent: int) -> None:
        self.boto.merge_shards(
            StreamName=stream, ShardToMerge=shard_id(shard), AdjacentShardToMerge=shard_id(adjacent)
        )
        self.settle(stream)

    def scale(self, stream: str, count: int) -> None:
        self.boto.update_shard_count(
            StreamName=stream, TargetShardCount=count, ScalingType="UNIFORM_SCALING"
        )
        self.settle(stream)

    def put(self, stream: str, at: Fraction, *payloads: str) -> list[Raw]:
        """Put records whose hash key is `at` of the space."""
        return [
            self.boto.put_record(
                StreamName=stream, Data=text.encode(), PartitionKey="k", ExplicitHashKey=edge(at)
            )
            for text in payloads
        ]

    def shards(self, stream: str, **more: Any) -> list[Raw]:
        """Every listed shard, page after page; later pages by NextToken alone."""
        return [shard for page in self.pages(StreamName=stream, **more) for shard in page]

    def pages(self, **first: Any) -> Iterator[list[Raw]]:
        answer = self.boto.list_shards(**first)
        yield answer["Shards"]
        while "NextToken" in answer:
            answer = self.boto.list_shards(NextToken=answer["NextToken"])
            yield answer["Shards"]

    def iterator(self, stream: str, shard: int, kind: str, **more: Any) -> str:
        answer = self.boto.get_shard_iterator(
            StreamName=stream, ShardId=shard_id(shard), ShardIteratorType=kind, **more
        )
        return str(answer["ShardIterator"])

    def read(self, stream: str, shard: int, kind: str = "TRIM_HORIZON", **more: Any) -> list[Raw]:
        """The answers of GetRecords up to the shard's end, or to an empty one at its tip."""
        answers: list[Raw] = []
        token: str | None = self.iterator(stream, shard, kind, **more)
        while token is not None:
            assert len(answers) < 20, f"shard {shard} of {stream} has no end"
            answers.append(self.boto.get_records(ShardIterator=token, Limit=2))
            token = answers[-1].get("NextShardIterator")
            if not answers[-1]["Records"] and answers[-1]["MillisBehindLatest"] == 0:
                break
        return answers
