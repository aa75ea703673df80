"""Stores that the real kinesis-consumer wrote: rows, stream, and what was unread in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from reshardctl.model import Image, canonical, time_of
from reshardctl.testing import FakeKinesis, load_topology

GOLDEN = Path(__file__).parents[1] / "golden" / "kinesis-consumer"
STORES = sorted(path.parent for path in GOLDEN.glob("*/truth.json"))
APP, STREAM = "app", "st"
RELEASES = ("0.5.0", "master-31e0042", "telegraf-1.39")
STARTS = ("LATEST", "TRIM_HORIZON")


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def items_of(store: Path) -> list[dict[str, Any]]:
    """The scan of the DynamoDB table."""
    return list(read(store / "kinesis_consumer.json")["Items"])


def rows_of(store: Path) -> dict[str, str]:
    """Number by shard."""
    return {i["shard_id"]["S"]: i["sequence_number"]["S"] for i in items_of(store)}


def images_of(store: Path) -> list[Image]:
    found = [
        Image(f"{i['namespace']['S']}/{i['shard_id']['S']}", canonical(i)) for i in items_of(store)
    ]
    return sorted(found, key=lambda image: image.key)


def topology(store: Path) -> dict[str, Any]:
    """The stream when `shards.json` was listed, or when the newest stored record arrived."""
    (stream,) = read(store / "stream.json")["streams"]
    common = {
        "account": "123456789012", "region": "us-east-1", "retention_hours": 24,
        "mode": "PROVISIONED",
    }
    times = [read(store / "truth.json")["at"], *map(time_of, rows_of(store).values())]
    return {**common, **stream, "now": max(times) - stream["created"]}


def fake_of(store: Path) -> FakeKinesis:
    return load_topology(topology(store))


def unread(store: Path) -> dict[str, list[str]]:
    """What was not delivered, as `truth.json` says, shard by shard."""
    return {
        shard: [p for text in texts for p in _payloads(text)]
        for shard, texts in read(store / "truth.json")["unread"].items()
    }


def numbers(store: Path) -> dict[str, dict[str, str]]:
    """Payload → sequence number, by shard, as recorded."""
    found: dict[str, dict[str, str]] = read(store / "truth.json")["sequence_numbers"]
    return found


def _payloads(text: str) -> list[str]:
    match = re.fullmatch(r"(s\d+-)(\d+)\.\.(\d+)", text)
    if match is None:
        return [text]
    return [f"{match[1]}{i}" for i in range(int(match[2]), int(match[3]) + 1)]
