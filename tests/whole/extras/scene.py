"""The demo's stream as of now, what it holds, and how an installed command is run beside it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from reshardctl.demo import servers
from reshardctl.demo.servers import Endpoints, seeded, settings

LIMIT = 300.0
"""Seconds after which a command, and Spark in it, is taken to hang."""
Record = tuple[str, str]
"""Shard and sequence number."""


@dataclass(frozen=True)
class Installed:
    """The command of an environment that holds the wheel and one extra, and nothing of ours."""

    python: Path
    folder: Path
    endpoints: Endpoints

    def run(self, code: int, *words: str, **more: str) -> dict[str, Any]:
        """One command that has to end with this code; its document."""
        done = subprocess.run(
            [self.python.with_name("reshardctl"), *words, "--format", "json"], cwd=self.folder,
            env={**self._surroundings(), **more}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=LIMIT, check=False,
        )
        said = f"{' '.join(words)}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
        assert done.returncode == code, said
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _surroundings(self) -> Mapping[str, str]:
        mine = ("AWS_", "PYTHON", "SPARK", "RESHARDCTL_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
        state = {"RESHARDCTL_STATE_DIR": str(self.folder / "state"), "HOME": str(self.folder)}
        return {**kept, **settings(self.endpoints), **state}


@contextmanager
def installed(python: Path, folder: Path) -> Iterator[Installed]:
    """The servers for as long as the context lasts."""
    with seeded(time.time()) as endpoints:
        yield Installed(python, folder, endpoints)


def records(endpoints: Endpoints) -> list[Record]:
    """Every record of the stream, shard by shard, in order."""
    kinesis = boto3.client(
        "kinesis", region_name=servers.REGION, endpoint_url=endpoints.kinesis,
        aws_access_key_id="demo", aws_secret_access_key="demo",
    )
    found = []
    for shard in kinesis.list_shards(StreamName=servers.STREAM)["Shards"]:
        name = shard["ShardId"]
        place = kinesis.get_shard_iterator(
            StreamName=servers.STREAM, ShardId=name, ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        while place:
            answer = kinesis.get_records(ShardIterator=place)
            found += [(name, one["SequenceNumber"]) for one in answer["Records"]]
            place = answer.get("NextShardIterator")
            if not answer["Records"] and answer.get("MillisBehindLatest") == 0:
                break
    return found
