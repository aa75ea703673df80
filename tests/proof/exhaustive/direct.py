"""FakeKinesis without the wire: the three calls that a worker makes, straight on a case's shards.

Ten times as fast, which is what lets thousands of tables run with the default tests. It answers
what FakeKinesis answers; `test_direct.py` holds it to that, run by run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from tests.support.case import Case
from tests.support.case_stream import CaseShard, number, shard_name

Answer = dict[str, Any]
NUMBER = re.compile(r"0|[1-9][0-9]{0,128}")
"""The API's pattern of a StartingSequenceNumber."""
SHARD = re.compile(r"[a-zA-Z0-9_.-]{1,128}")
"""The API's pattern of a ShardId."""
Held = tuple[int, str, float]
"""(sequence number, payload, arrival in epoch seconds)"""


class Direct:
    """One case's stream. Has what the reference consumer uses: `clock`, `client()`, `put`."""

    def __init__(self, case: Case) -> None:
        self._topology = case.topology
        self._now = float(case.now)
        self._keep = case.retention_hours * 3600
        self._trim = case.stream["created"] + case.stream["trim"]
        self.clock = SimpleNamespace(advance=self._advance, now=lambda: self._now)
        self._records: dict[int, list[Held]] = {
            index: [(int(n), payload, at) for n, payload, at in shard.records]
            for index, shard in case.topology.items()
        }

    def client(self) -> Direct:
        """Itself: it is called like boto3's client."""
        return self

    def _advance(self, seconds: float) -> None:
        self._now += seconds

    def put(self, index: int, payload: str) -> None:
        """One more record in an open shard."""
        held, shard = self._records[index], self._topology[index]
        epoch = _epoch(shard)
        text = number(epoch, len(held) + 1, max(int(self._now), epoch), index)
        held.append((int(text), payload, self._now))

    @property
    def _horizon(self) -> float:
        return max(self._trim, self._now - self._keep)

    def _there(self, shard: CaseShard) -> bool:
        return shard.listed and (shard.closed is None or shard.closed >= self._horizon)

    def list_shards(self, **ask: Any) -> Answer:
        """ListShards with the filters by which an empty table is filled."""
        keeps = self._filter(ask.get("ShardFilter") or {"Type": "FROM_TRIM_HORIZON"})
        shards = [s for _, s in sorted(self._topology.items()) if self._there(s) and keeps(s)]
        return {"Shards": [_listed(shard) for shard in shards]}

    def _filter(self, wanted: Mapping[str, Any]) -> Callable[[CaseShard], bool]:
        if wanted["Type"] == "FROM_TRIM_HORIZON":
            return lambda _shard: True
        if wanted["Type"] == "AT_LATEST":
            return lambda shard: shard.closed is None
        then = self._horizon if wanted["Type"] == "AT_TRIM_HORIZON" else wanted["Timestamp"]
        then = max(then, self._horizon)
        strict = wanted["Type"] == "AT_TRIM_HORIZON"
        return lambda shard: self._opened(shard) <= then and (
            shard.closed is None or shard.closed > then or (not strict and shard.closed == then)
        )

    def _opened(self, shard: CaseShard) -> float:
        closes = [self._topology[p].closed or 0 for p in shard.parents if p in self._topology]
        return max(closes, default=0.0)

    def get_shard_iterator(self, **ask: Any) -> Answer:
        """GetShardIterator; an iterator is "shard:least number to return"."""
        if not NUMBER.fullmatch(ask.get("StartingSequenceNumber", "0")):
            raise _error("ValidationException", "GetShardIterator")  # before any shard is looked at
        index = self._readable(ask["ShardId"])
        shard, held = self._topology[index], self._records[index]
        match ask["ShardIteratorType"]:
            case "TRIM_HORIZON":
                least = int(shard.start)
            case "LATEST":
                least = int(shard.end) + 1 if shard.end else self._tip(index) + 1
            case "AT_TIMESTAMP":
                later = (n for n, _, at in held if at >= ask["Timestamp"])
                least = next(later, self._tip(index) + 1)
            case _:
                least = self._checked(index, ask["StartingSequenceNumber"])
        return {"ShardIterator": f"{index}:{least}"}

    def _tip(self, index: int) -> int:
        held = self._records[index]
        return held[-1][0] if held else int(self._topology[index].start)

    def _checked(self, index: int, text: str) -> int:
        shard = self._topology[index]
        value = int(text) if NUMBER.fullmatch(text) else 0
        fits = value.bit_length() == 186 and value >> 4 & 0xFFFFFFFF == index
        epoch = value >> 148 & 0xFFFFFFFFF
        late = bool(shard.end) and value > int(shard.end)
        if not fits or epoch != _epoch(shard) or value < int(shard.start) or late:
            raise _error("InvalidArgumentException", "GetShardIterator")
        return value

    def get_records(self, **ask: Any) -> Answer:
        """GetRecords; the end of a closed shard names its children and no iterator."""
        index, least = map(int, ask["ShardIterator"].split(":"))
        self._readable(shard_name(index))
        shard = self._topology[index]
        fresh = [h for h in self._records[index] if h[0] >= least and h[2] >= self._horizon]
        page = fresh[: ask["Limit"]]
        answer: Answer = {
            "Records": [
                {"SequenceNumber": str(n), "Data": payload.encode()} for n, payload, _ in page
            ]
        }
        if shard.closed is not None and not page:
            answer["ChildShards"] = [_child(self._topology[child]) for child in shard.children]
        else:
            answer["NextShardIterator"] = f"{index}:{page[-1][0] + 1 if page else least}"
        return answer

    def _readable(self, name: str) -> int:
        if not SHARD.fullmatch(name):
            raise _error("ValidationException", "GetShardIterator")
        digits = name.removeprefix("shardId-")
        index = int(digits) if digits.isdecimal() else -1
        if index not in self._topology or not self._there(self._topology[index]):
            raise _error("ResourceNotFoundException", "GetShardIterator")
        return index


def _epoch(shard: CaseShard) -> int:
    return int(shard.start) >> 148 & 0xFFFFFFFFF


def _keys(shard: CaseShard) -> Answer:
    return {
        "StartingHashKey": str(shard.first_hash),
        "EndingHashKey": str(shard.last_hash),
    }


def _listed(shard: CaseShard) -> Answer:
    numbers = {"StartingSequenceNumber": shard.start}
    if shard.end:
        numbers["EndingSequenceNumber"] = shard.end
    named = zip(("ParentShardId", "AdjacentParentShardId"), shard.parents, strict=False)
    return {
        "ShardId": shard_name(shard.id),
        "HashKeyRange": _keys(shard),
        "SequenceNumberRange": numbers,
        **{key: shard_name(parent) for key, parent in named},
    }


def _child(shard: CaseShard) -> Answer:
    return {
        "ShardId": shard_name(shard.id),
        "ParentShards": [shard_name(parent) for parent in shard.parents],
        "HashKeyRange": _keys(shard),
    }


def _error(code: str, action: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, action)
