"""Stores that the real kinsumers wrote: their tables, their stream, and what was unread in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from reshardctl.model import Image, canonical
from reshardctl.testing import FakeKinesis, load_topology
from tests.proof.reference.kinsumer import Tables

GOLDEN = Path(__file__).parents[1] / "golden"
STORES = sorted(
    path.parent for family in ("twitchscience", "snowplow")
    for path in (GOLDEN / f"kinsumer-{family}").glob("*/truth.json")
)
KEYS = {"checkpoints": "Shard", "clients": "ID", "metadata": "Key"}
AGED = 900
"""Seconds after the last write of the recording: what runs no more looks stale by then."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def tables_of(store: Path) -> Tables:
    """The three scans."""
    return {name: read(store / f"app_{name}.json")["Items"] for name in KEYS}


def images_of(store: Path) -> list[Image]:
    found = [
        Image(f"{name}/{item[KEYS[name]]['S']}", canonical(item))
        for name, items in tables_of(store).items() for item in items
    ]
    return sorted(found, key=lambda image: image.key)


def topology(store: Path) -> dict[str, Any]:
    """The stream, seen a quarter of an hour after the store was written."""
    (stream,) = read(store / "stream.json")["streams"]
    written = [
        int(item["LastUpdate"]["N"]) // 10**9
        for items in tables_of(store).values() for item in items
    ]
    return {**stream, "now": max(written) + AGED - stream["created"]}


def fake_of(store: Path) -> FakeKinesis:
    return load_topology(topology(store))


def unread(store: Path) -> dict[str, tuple[str, ...]]:
    """What was not delivered, as `truth.json` says: the next start's due. A start at LATEST
    (g6) has passed what was there by choice."""
    if store.name == "g6-latest-bootstrap":
        return {}
    return {
        shard: tuple(p for text in texts for p in _payloads(text))
        for shard, texts in read(store / "truth.json")["unread"].items() if texts
    }


def _payloads(text: str) -> list[str]:
    match = re.fullmatch(r"(s\d+-)(\d+)\.\.(\d+)", text)
    if match is None:
        return [text]
    return [f"{match[1]}{i}" for i in range(int(match[2]), int(match[3]) + 1)]
