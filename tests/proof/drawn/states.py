"""A state: a stream, what is stored of one application, and how it came about.

The same family and seed give the same state in every process; only the moment at which its stream
was created is the caller's, because real libraries go by the real clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from reshardctl.model import Image, canonical
from reshardctl.model.times import parse_instant
from tests.support.case import Case, from_table
from tests.support.judging import held

Stream = dict[str, Any]
Rows = dict[str, dict[str, Any]]
"""Stored rows in DynamoDB JSON, by the medium's key."""

CREATED = 1_795_219_200


@dataclass(frozen=True)
class State:
    """One store as a start finds it.

    read: payloads that the application was given before the damage, by shard. forged: the damage
    says of unread records of a shard that they were read, so that nothing can tell. extra: further
    tables of the case. looks: how often it was looked at before; the next look takes more time.
    """

    family: str
    seed: int
    consumer: str
    stream: Stream
    rows: Rows
    options: Mapping[str, str]
    read: Mapping[str, frozenset[str]]
    damages: tuple[str, ...]
    honest: Rows = field(repr=False)
    forged: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = field(default_factory=dict)
    looks: int = 0

    @cached_property
    def case(self) -> Case:
        """The stream as a case; its rows are `images`."""
        live = [s["id"] for s in self.stream["shards"] if "close" not in s]
        return from_table(Path(f"{self.name}.toml"), {
            "title": self.title, "source": "drawn", "consumer": self.consumer,
            "stream": deepcopy(self.stream), "live": {"shards": live, "n": 1},
            "expect": [{"findings": []}], **deepcopy(dict(self.extra)),
        })

    @property
    def name(self) -> str:
        return f"{self.family}-{self.seed}"

    @property
    def title(self) -> str:
        return f"seed {self.seed}: {', '.join(self.damages) or 'as it was left'}"

    @property
    def initial(self) -> str:
        return self.options.get("initial", "TRIM_HORIZON")

    @property
    def starting(self) -> str:
        """`initial` as reference consumers take it: a time in epoch seconds."""
        mode, colon, moment = self.initial.partition(":")
        return f"{mode}:{parse_instant(moment):.0f}" if colon else mode

    @property
    def release(self) -> str:
        return self.options["release"]

    @property
    def own_rows(self) -> Rows:
        """Without those that are stored for another application beside it, or under its old name.
        """
        if self.consumer != "kinesis-consumer":
            return self.rows
        space = f"{self.options['app']}-{self.case.stream['name']}/"
        return {key: row for key, row in self.rows.items() if key.startswith(space)}

    @property
    def images(self) -> list[Image]:
        """The rows as a medium reads them."""
        return images_of(self.rows)

    def owed(self) -> dict[str, frozenset[str]]:
        """What is still in the stream and behind everything that was read of its shard; of a shard
        that was never read all of it, where the application starts at the beginning."""
        found = {}
        whole = self.initial == "TRIM_HORIZON"
        for shard in self.case.records:
            there = [payload for _, payload, _ in held(self.case, shard)]  # type: ignore[arg-type]
            order = [payload for _, payload, _ in self.case.records[shard]]
            done = self.read.get(shard, frozenset())
            last = max((order.index(p) for p in done if p in order), default=-1)
            if last >= 0 or whole:
                found[shard] = frozenset(p for p in there if order.index(p) > last)
        return found


def images_of(rows: Rows) -> list[Image]:
    """In key order."""
    return [Image(key, canonical(rows[key])) for key in sorted(rows)]


def rows_of(images: Iterable[Image]) -> Rows:
    """The same the other way round."""
    return {image.key: {n: dict(v) for n, v in image.attributes.items()} for image in images}


def spelled_out(stream: Stream, created: int) -> Stream:
    """The topology with every record by itself, created at this moment."""
    whole = deepcopy(stream) | {"created": created}
    for shard in whole["shards"]:
        records = shard.get("records")
        if isinstance(records, dict):
            n, first, last = records["n"], records["from"], records["to"]
            gaps = max(n - 1, 1)
            shard["records"] = [
                {"t": first + i * (last - first) // gaps, "data": f"s{shard['id']}-{i}"}
                for i in range(n)
            ]
    return whole


def as_of(stream: Stream, moment: int) -> Stream:
    """The topology as it was so many seconds after its creation."""
    shown = deepcopy(stream) | {"now": moment}
    shown["shards"] = [s for s in shown["shards"] if s["open"] <= moment]
    for shard in shown["shards"]:
        shard["records"] = [r for r in shard.get("records", []) if r["t"] <= moment]
        if shard.get("close", 0) >= moment:
            del shard["close"]
    # A shard closes in the second before its children are born.
    born = {p for s in shown["shards"] for p in s.get("parents", [])}
    assert all("close" in s for s in shown["shards"] if s["id"] in born)
    return shown

