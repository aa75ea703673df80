"""The tables of one rule: rows on a named stream, and whether the rule speaks up on them.

A file `rshNNN.toml` holds `[[broken]]` and `[[fine]]` tables. `stream` names one of streams.toml;
`rows` and `foreign` are a case's; `initial` and `releases` default to what most cases run on;
`status` is the stream's; `findings` are the codes at warning or above, exactly; `severity` and
`shards` are those of the rule's own finding.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reshardctl.consumers.base import Incarnation
from reshardctl.diagnosis.rules import View
from reshardctl.lineage import Lineage
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import judge, processed_frontier
from reshardctl.planning.policy import LOSSLESS
from tests.support.case import Case, all_cases, from_table
from tests.support.case_stream import only
from tests.support.judging import Bench

HERE = Path(__file__).parent
KEYS = {"title", "source", "stream", "rows", "foreign", "findings"}
OPTIONAL = {"foreign", "initial", "releases", "status", "severity", "shards"}
STREAMS = tomllib.loads((HERE / "streams.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Told:
    """One situation under one start mode and release. speaks: whether the rule must report it.

    findings: codes at warning or above. severity, shards: of the rule's own finding, `None` where
    nothing is said of it. status: the stream's.
    """

    name: str
    case: Case
    initial: str
    release: str
    speaks: bool
    findings: frozenset[str]
    severity: str | None = None
    shards: tuple[int, ...] | None = None
    status: str = "ACTIVE"


def table_of(code: str) -> list[Told]:
    """Every situation in the rule's own file."""
    path = HERE / f"{code.lower()}.toml"
    if not path.exists():
        return []
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    only(table, {"broken", "fine"}, path.name)
    return [
        told
        for kind in ("broken", "fine")
        for entry in table.get(kind, [])
        for told in _told(path, kind == "broken", entry)
    ]


def _told(path: Path, speaks: bool, entry: dict[str, Any]) -> Iterator[Told]:
    only(entry, KEYS | OPTIONAL, f"{path.name}: {entry.get('title')}")
    initials = entry.get("initial", ["LATEST", "TRIM_HORIZON"])
    releases = entry.get("releases", ["2.7.2", "3.5.1"])
    expect = {"initial": initials, "releases": releases, "findings": entry["findings"]}
    case = from_table(path, {
        "title": entry["title"],
        "source": entry["source"],
        "consumer": "kcl",
        "stream": deepcopy(STREAMS[entry["stream"]]),
        "rows": entry["rows"],
        "foreign": entry.get("foreign", []),
        "expect": [expect],
    })
    for initial in initials:
        for release in releases:
            yield Told(
                entry["title"], case, initial, release, speaks, frozenset(entry["findings"]),
                entry.get("severity"),
                tuple(entry["shards"]) if "shards" in entry else None,
                entry.get("status", "ACTIVE"),
            )


def told_by_cases() -> list[Told]:
    """Every expectation of the case files, as far as findings go. `speaks` is left to the code."""
    return [
        Told(case.name, case, initial, release, False, expect.findings)
        for case in all_cases("kcl") if case.rows
        for expect in case.expects
        for initial in expect.initial
        for release in expect.releases
    ]


@cache
def view_of(told: Told) -> View:
    """What the rules look at in this situation: one candidate's next start."""
    bench = Bench.of(told.case, told.initial, told.release)
    case = bench.plan_case
    if told.status != "ACTIVE":
        listed = case.state.lineage
        stream = replace(listed.stream, status=told.status)
        lineage = Lineage(stream, [listed[shard] for shard in listed])
        case = replace(case, state=StreamState(lineage, case.state.now))
    (view,) = views_of(case)
    return view


def views_of(case: Any) -> Iterator[View]:
    """A view for every candidate of a planner's case, under `lossless`."""
    lineage = case.state.lineage
    processed = processed_frontier(case)
    checkpoint = case.consumer.parse(case.images)
    odd = case.consumer.anomalies(lineage, checkpoint)
    recreated = case.consumer.incarnation(lineage, checkpoint) is Incarnation.RECREATED
    for judged in judge(case, LOSSLESS.frontier(lineage, processed), processed):
        yield View(case.state, processed, judged.simulation, judged.effects, odd, recreated)
