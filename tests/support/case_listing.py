"""Cases of a listing that contradicts itself or fails: `tests/cases/listings`, one file each.

    title, source             # as in every case
    [stream]                  # the topology as it is
    unlisted = [3]            # shards that ListShards leaves out
    reopened = [0]            # closed shards that it shows without an EndingSequenceNumber
    refused = "AccessDeniedException"      # instead: how the second page of one shard is answered

    [breaches]                # by code, the shards that are named: exactly these
    RSH105 = [0]

Nothing is judged from such a listing: the command ends with exit 3, RSH901.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.requests import ApiError
from tests.support.case import CASES
from tests.support.case_stream import filled, only, shard_name

KEYS = {"title", "source", "stream", "unlisted", "reopened", "refused", "breaches"}


@dataclass(frozen=True, slots=True)
class ListingCase:
    """One stream, and how ListShards shows it. breaches: the shards by code."""

    name: str
    stream: Mapping[str, Any]
    unlisted: frozenset[str]
    reopened: frozenset[str]
    refused: str
    breaches: Mapping[str, frozenset[str]]

    @property
    def codes(self) -> frozenset[str]:
        """Every rule that the case shows."""
        return frozenset(self.breaches) | {"RSH901"}

    def fake(self) -> FakeKinesis:
        """The stream, whose every listing is like this."""
        fake = load_topology(self.stream)
        fake.faults.add("ListShards", self._answer, times=None)
        return fake

    def _answer(self, request: Any, proceed: Any) -> Any:
        if self.refused and "NextToken" in request.params:
            raise ApiError(self.refused, None)
        answer = proceed(replace(request, page=1) if self.refused else request)
        listed = [s for s in answer["Shards"] if s["ShardId"] not in self.unlisted]
        return {**answer, "Shards": [self._shown(shard) for shard in listed]}

    def _shown(self, shard: Mapping[str, Any]) -> Mapping[str, Any]:
        if shard["ShardId"] not in self.reopened:
            return shard
        start = shard["SequenceNumberRange"]["StartingSequenceNumber"]
        return {**shard, "SequenceNumberRange": {"StartingSequenceNumber": start}}


def listing_cases() -> list[ListingCase]:
    """Every case of a listing, by file name."""
    return [_load(path) for path in sorted((CASES / "listings").glob("*.toml"))]


def _load(path: Path) -> ListingCase:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    only(table, KEYS, path.name)
    assert table["title"] and table["source"], path.name
    return ListingCase(
        path.stem,
        filled(table["stream"]),
        _ids(table.get("unlisted", ())),
        _ids(table.get("reopened", ())),
        table.get("refused", ""),
        {code: _ids(shards) for code, shards in table["breaches"].items()},
    )


def _ids(shards: Any) -> frozenset[str]:
    return frozenset(map(shard_name, shards))
