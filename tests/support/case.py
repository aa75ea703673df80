"""The case format: one TOML file per situation, read here and nowhere else.

A case holds a stream, the rows that a consumer stored, and what is expected: which payloads the
next start delivers, what inspect finds, what fix writes, and what the start after that delivers.
Unknown keys are errors, so that a misspelt expectation cannot pass unseen. Multi-stream tables and
side tables (``[multi]``, ``[[side]]``) are described in ``tests/support/case_tables.py``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.case_rows import Item, item_of, repaired
from tests.support.case_stream import CaseShard, Record, filled, listing, only, resolve, shard_name
from tests.support.case_tables import Multi, multi_of, side_of, stored, unnamed
from tests.support.dialects import dialect_of

CASES = Path(__file__).parents[1] / "cases"
RULES = "rules"
"""The folder of the cases that show a rule; each names its consumer."""
INCIDENTS = "incidents"
"""The folder of the cases with values of public incidents; each names its consumer."""

Delivery = Mapping[str, tuple[str, ...]]
"""Payloads by shard id (``shardId-…``), in the order of delivery; every shard is named."""

COMMON_KEYS = {"title", "source", "consumer", "stream", "live", "expect"}
CASE_KEYS = {*COMMON_KEYS, "rows", "foreign", "multi", "side"}
"""Of KCL; the keys of other libraries' tables are their dialects', see `tests/support/dialects`."""
EXPECT_KEYS = {
    "initial", "releases", "options", "probe", "delivers", "order", "dies", "findings", "infos",
    "fixed",
}  # fmt: skip
FIXED_KEYS = {"policy", "accept", "writes", "delivers", "order", "dies", "remains", "refused"}


@dataclass(frozen=True, slots=True)
class Live:
    """Records put into open shards once every shard that can be asked for has been asked for."""

    shards: tuple[int, ...] = ()
    n: int = 0


USUAL_LIMIT = "reread=1h"
"""A case that names no limit is fixed within what is written without a question."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The state after `fix`; ``writes`` maps a shard's number to its short-hand position."""

    policy: str
    writes: Mapping[int, str]
    delivers: Delivery
    order: tuple[tuple[str, str], ...]
    remains: frozenset[str]
    refused: str | None
    accept: str
    dies: bool = False


@dataclass(frozen=True, slots=True)
class Expect:
    """What holds for these initial positions and releases.

    ``order`` holds pairs of shard ids: every record of the first before any of the second.
    ``options``: of the locator, beside start mode and release. ``probe``: closed shards are read.
    ``infos``: codes of findings below warning; None where the case says nothing of them.
    """

    initial: tuple[str, ...]
    releases: tuple[str, ...]
    delivers: Delivery
    order: tuple[tuple[str, str], ...]
    dies: bool
    findings: frozenset[str]
    fixed: Fixed | None
    options: Mapping[str, str] = field(default_factory=dict)
    probe: bool = False
    infos: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One case file. ``records`` holds every record ever put, also those that are trimmed.

    ``rows`` are the case's own leases with bare keys, whatever the table is. Equal to itself alone,
    so that what is made of a case can be remembered by it.
    """

    name: str
    path: Path
    title: str
    source: str
    consumer: str
    stream: dict[str, Any]
    topology: Mapping[int, CaseShard]
    shards: list[dict[str, Any]]
    records: Mapping[str, tuple[Record, ...]]
    rows: list[Item]
    foreign: list[Item]
    live: Live
    expects: tuple[Expect, ...]
    now: int
    retention_hours: int
    multi: Multi | None = None
    side: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identifier(self) -> str:
        """``account:stream:epoch`` in a multi-stream case, else ""."""
        return self.multi.identifier if self.multi else ""

    def key(self, shard: int) -> str:
        """The key of a shard's row."""
        return f"{self.identifier}:{shard_name(shard)}" if self.multi else shard_name(shard)

    @property
    def stores(self) -> tuple[str, ...]:
        """Where such rows are kept; () where the case does not say."""
        return tuple(self.state.get("stores", ()))

    def items(self) -> list[Item]:
        """The whole table as stored: the consumer's rows and the foreign ones."""
        return self._stored(self.rows)

    def with_writes(self, writes: Mapping[int, str]) -> list[Item]:
        """The whole table after these writes, done by hand."""
        rows = repaired(self.rows, dict(writes), dict(self.topology))
        if self.multi:
            rows = [unnamed(row) if _index(row) in writes else row for row in rows]
        return self._stored(rows)

    def _stored(self, rows: list[Item]) -> list[Item]:
        if self.multi is None:
            return [*rows, *self.foreign]
        own = [stored(row, self.identifier) for row in rows]
        return [*own, *self.multi.others, *self.foreign]

    def payload_of(self, number: str) -> str:
        """The payload of the record with this number; KeyError when there is none."""
        return {n: p for held in self.records.values() for n, p, _ in held}[number]

    def number_of(self, payload: str) -> str:
        """The sequence number of the record with this payload; KeyError when there is none."""
        return {p: n for held in self.records.values() for n, p, _ in held}[payload]


def _index(row: Item) -> int:
    return int(row["leaseKey"]["S"].removeprefix("shardId-"))


def load(path: Path) -> Case:
    """Read one case file; ValueError names what is wrong with it."""
    try:
        return from_table(path, tomllib.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name}: {error!r}") from error


def all_cases(consumer: str) -> list[Case]:
    """Every case of one consumer, by file name; read once in a process, so not to be changed."""
    return list(_all_cases(consumer))


def rule_cases(consumer: str) -> list[Case]:
    """The cases of one consumer that are there for a rule or an incident, and for no run of it."""
    cases = [case for folder in (RULES, INCIDENTS) for case in all_cases(folder)]
    return [case for case in cases if case.consumer == consumer]


@cache
def _all_cases(consumer: str) -> tuple[Case, ...]:
    return tuple(load(path) for path in sorted((CASES / consumer).glob("*.toml")))


def from_table(path: Path, table: dict[str, Any]) -> Case:
    """A case from a file's tables; KeyError, TypeError or ValueError when one is wrong."""
    stream = filled(table["stream"])
    topology = resolve(stream)
    state = _state(table, topology)
    live = table.get("live", {})
    only(live, {"shards", "n"}, "live")
    return Case(
        name=path.stem,
        path=path,
        title=table["title"],
        source=table["source"],
        consumer=table["consumer"],
        stream=stream,
        topology=topology,
        shards=listing(topology),
        records={shard_name(shard_id): shard.records for shard_id, shard in topology.items()},
        rows=[] if state else [item_of(row, topology) for row in table.get("rows", [])],
        foreign=[] if state else [_foreign(entry) for entry in table.get("foreign", [])],
        live=Live(tuple(live.get("shards", ())), live.get("n", 0)),
        expects=tuple(_expect(entry, topology) for entry in table["expect"]),
        now=stream["created"] + stream["now"],
        retention_hours=stream["retention_hours"],
        multi=multi_of(table["multi"], stream) if "multi" in table else None,
        side=side_of(table.get("side", [])),
        state=state,
    )


def _state(table: dict[str, Any], topology: Mapping[int, CaseShard]) -> dict[str, Any]:
    """The tables that only the library's own dialect can read; none for KCL."""
    if table["consumer"] == "kcl":
        only(table, CASE_KEYS, "case")
        return {}
    dialect = dialect_of(table["consumer"])
    only(table, {*COMMON_KEYS, *dialect.KEYS}, "case")
    state = {key: table[key] for key in sorted(dialect.KEYS) if key in table}
    dialect.check(state, topology)
    return state


def _foreign(entry: dict[str, Any]) -> Item:
    only(entry, {"item"}, "foreign")
    item: Item = entry["item"]
    return item


def _expect(entry: dict[str, Any], topology: Mapping[int, CaseShard]) -> Expect:
    only(entry, EXPECT_KEYS, "expect")
    fixed = entry.get("fixed")
    return Expect(
        initial=tuple(entry.get("initial", [""])),
        releases=tuple(entry.get("releases", [""])),
        delivers=_delivery(entry.get("delivers", {}), topology),
        order=tuple(_pair(text) for text in entry.get("order", ())),
        dies=entry.get("dies", False),
        findings=_codes(entry["findings"]),
        fixed=None if fixed is None else _fixed(fixed, topology),
        options=dict(entry.get("options", {})),
        probe=entry.get("probe", False),
        infos=_codes(entry["infos"]) if "infos" in entry else None,
    )


def _fixed(entry: dict[str, Any], topology: Mapping[int, CaseShard]) -> Fixed:
    only(entry, FIXED_KEYS, "expect.fixed")
    refused = entry.get("refused")
    if refused is not None and (refused not in ("noline", "residual") and refused[:4] != "ask:"):
        raise ValueError(f"refused = {refused!r}")
    return Fixed(
        policy=entry.get("policy", "lossless"),
        writes={int(shard): wanted for shard, wanted in entry["writes"].items()},
        delivers=_delivery(entry["delivers"], topology),
        order=tuple(_pair(text) for text in entry.get("order", ())),
        remains=_codes(entry["remains"]),
        refused=refused,
        accept=entry.get("accept", USUAL_LIMIT),
        dies=entry.get("dies", False),
    )


def _delivery(table: dict[str, list[str]], topology: Mapping[int, CaseShard]) -> Delivery:
    """A shard that is not named delivers nothing; one that is not in the topology is an error."""
    if unknown := {int(shard) for shard in table} - set(topology):
        raise ValueError(f"delivers: no such shards {unknown}")
    return {shard_name(shard_id): tuple(table.get(str(shard_id), ())) for shard_id in topology}


def _pair(text: str) -> tuple[str, str]:
    first, second = text.split("<")
    return shard_name(int(first)), shard_name(int(second))


def _codes(codes: Iterable[str]) -> frozenset[str]:
    named = frozenset(codes)
    if wrong := [code for code in named if not (code.startswith("RSH") and code[3:].isdigit())]:
        raise ValueError(f"not rule codes: {wrong}")
    return named
