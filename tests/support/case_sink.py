"""Cases of a sink: `tests/cases/sinks`, one file each, counted here by plain sets.

    title, source             # as in every case
    [stream]                  # the topology with its records, all of one key for each shard

    [sink]                    # one row a record, but for:
    lacks = ["s1-2"]          # records without a row
    twice = ["s0-1"]          # records with two rows
    late = ["s1-0"]           # rows that were written after all others of their shard
    changed = "…"             # how the sink changed while it was read
    [[sink.rows]]             # rows beside them: what stands for the number, and the stream's name
    number = ""
    stream = "orders"

    [positions]               # where a consumer is named: its stored number by shard
    1 = "s1-3"

    [expect]
    findings = ["RSH501 error 1"]     # code, severity and shards of audit, exactly
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reshardctl.auditing.facts import Compared, Facts, Fault, InSink, Record, Unusable
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, at_number, exactly
from reshardctl.report.audit import AuditReport, Stored, judge_sink
from tests.support.case import CASES
from tests.support.case_stream import CaseShard, filled, listing, only, resolve, shard_name
from tests.support.judging import lineage_of

KEYS = {"title", "source", "stream", "sink", "positions", "expect"}
SINK_KEYS = {"lacks", "twice", "late", "changed", "rows"}
DIGITS = 56


@dataclass(frozen=True, slots=True)
class SinkCase:
    """A stream, the rows of a sink, and what an audit says of them."""

    name: str
    stream: Mapping[str, Any]
    topology: Mapping[int, CaseShard]
    sink: Mapping[str, Any]
    positions: Mapping[int, str]
    findings: tuple[str, ...]

    @property
    def codes(self) -> frozenset[str]:
        """Every rule that the case shows."""
        return frozenset(line.split()[0] for line in self.findings)

    def report(self) -> AuditReport:
        """What is said of the counted facts."""
        stored = Stored("kcl://app", {
            ShardId(shard_name(shard)): exactly(at_number(self._number(payload)))
            for shard, payload in self.positions.items()
        })  # fmt: skip
        return judge_sink(self.facts(), self.lineage(), stored if self.positions else None)

    def lineage(self) -> Lineage:
        hours = self.stream["retention_hours"]
        shards = listing(dict(self.topology))
        return lineage_of(shards, self.stream["created"], hours).as_of(self._now)

    def facts(self) -> Facts:
        """What an audit has to have counted."""
        inside = {one.shard: one for one in self._inside()}
        rows = self.sink.get("rows", [])
        unusable = Counter(fault for row in rows if (fault := self._fault(row)))
        return Facts(
            "sink", "json", self._now, sum(one.rows for one in inside.values()) + len(rows),
            inside, tuple(Unusable(fault, count) for fault, count in unusable.items()),
            {one.shard: one for one in self._compared()}, ordered_by="batch_id",
            changed=self.sink.get("changed", ""),
        )  # fmt: skip

    @property
    def _now(self) -> float:
        return float(self.stream["created"] + self.stream["now"])

    def _number(self, payload: str) -> str:
        return next(n for s in self.topology.values() for n, p, _ in s.records if p == payload)

    def _inside(self) -> Iterator[InSink]:
        lacks, twice, late = (set(self.sink.get(key, ())) for key in ("lacks", "twice", "late"))
        for shard in self.topology.values():
            held = [(number, payload) for number, payload, _ in shard.records
                    if payload not in lacks]
            if held:
                doubled = sum(payload in twice for _, payload in held)
                behind = [p for place, (_, p) in enumerate(held) if p in late and held[place + 1:]]
                yield InSink(
                    ShardId(shard_name(shard.id)), len(held) + doubled, Record(held[0][0], 0),
                    Record(held[-1][0], 0), doubled, doubled, len(behind),
                )

    def _compared(self) -> Iterator[Compared]:
        horizon = self._now - self.stream["retention_hours"] * 3600
        lacks = set(self.sink.get("lacks", ()))
        for shard in self.topology.values():
            if not shard.listed:
                continue
            left = [(n, p, float(arrived)) for n, p, arrived in shard.records if arrived >= horizon]
            read = [Record(number, 0, arrived) for number, _, arrived in left]
            missing = [Record(n, 0, arrived) for n, payload, arrived in left if payload in lacks]
            yield Compared(
                ShardId(shard_name(shard.id)), len(read), len(missing), *_ends(read),
                whole=self._born(shard) >= horizon, ended=bool(shard.end), tip=not shard.end,
                first_missing=_ends(missing)[0], last_missing=_ends(missing)[1],
            )

    def _born(self, shard: CaseShard) -> float:
        ends = [float(self.topology[parent].closed or 0) for parent in shard.parents]
        return max(ends, default=float(self.stream["created"]))

    def _fault(self, row: Mapping[str, Any]) -> Fault | None:
        number = row["number"]
        if row["stream"] != self.stream["name"]:
            return Fault.OTHER_STREAM
        if not number:
            return Fault.NO_NUMBER
        if not number.isdecimal():
            return Fault.NOT_NUMERIC
        return Fault.ODD_LENGTH if len(number) != DIGITS else None


def sink_cases() -> list[SinkCase]:
    """Every case of a sink, by file name."""
    return [_load(path) for path in sorted((CASES / "sinks").glob("*.toml"))]


def _load(path: Path) -> SinkCase:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    only(table, KEYS, path.name)
    only(table["sink"], SINK_KEYS, f"{path.name}: sink")
    only(table["expect"], {"findings"}, f"{path.name}: expect")
    assert table["title"] and table["source"], path.name
    for row in table["sink"].get("rows", []):
        only(row, {"number", "stream"}, f"{path.name}: sink.rows")
    stream = filled(table["stream"])
    positions = {int(shard): payload for shard, payload in table.get("positions", {}).items()}
    return SinkCase(
        path.stem, stream, resolve(stream), table["sink"], positions,
        tuple(table["expect"]["findings"]),
    )


def _ends(records: list[Record]) -> tuple[Record | None, Record | None]:
    return (records[0], records[-1]) if records else (None, None)
