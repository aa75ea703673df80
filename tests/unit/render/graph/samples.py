"""Streams and reports to draw: the cases, and a resharded stream of any width."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.lineage import Lineage
from reshardctl.report.report import RepairOptions, Report, make
from tests.support.case import Case, from_table
from tests.support.covering import few
from tests.support.grouped import by_case
from tests.support.judging import images_of, lineage_of
from tests.unit.render.samples import CASES

CREATED = 1795219200
LIFE = 6 * 3600


def by_drawn(*more: Case) -> Callable[[Callable[..., None]], Any]:
    """Make of a test of one stream a test of the cases, and of these beside them."""
    cases, drawn = tuple(CASES.values()), {f"wide-{len(case.shards)}": case for case in more}
    named = {case.name: case for case in cases} | drawn
    return by_case(((name, "", (case,)) for name, case in named.items()), {*few(cases), *drawn})


@cache
def wide_case(roots: int) -> Case:
    """`roots` equal shards; every second split, the others merged in pairs, at different times.

    The children of every eighth root have no position; others stand somewhere, or at their
    beginning behind an unfinished parent.
    """
    shards = [
        {"id": i, "range": [f"{i}/{roots}", f"{i + 1}/{roots}"], "open": 0} for i in range(roots)
    ]
    rows: list[dict] = []
    for i in range(0, roots, 4):
        _split(shards, rows, shards[i], 3600 + 97 * (i % 60), lost=i % 8 == 0)
        rows.append({"shard": i + 1, "checkpoint": _number(shards[i + 1], LIFE - 60 * (i % 50))})
        if i + 3 < roots:
            _merge(shards, rows, (shards[i + 2], shards[i + 3]), 9000 + 61 * (i % 90))
    for shard in shards:
        at = shard.pop("at", None)
        shard["records"] = [] if at is None else [{"t": at, "data": f"s{shard['id']}"}]
    table = {
        "title": "wide", "source": "made here", "consumer": "kcl",
        "stream": {"created": CREATED, "now": LIFE, "shards": shards}, "rows": rows,
        "expect": [{"initial": ["LATEST"], "releases": ["3.5.1"], "findings": []}],
    }
    return from_table(Path("wide.toml"), table)


def _number(shard: dict, at: int) -> str:
    """The name of a record of the shard, put there."""
    shard["at"] = at
    return f"s{shard['id']}"


def _split(shards: list, rows: list, parent: dict, at: int, *, lost: bool) -> None:
    low, high = (Fraction(edge) for edge in parent["range"])
    edges = (low, (low + high) / 2, high)
    parent["close"] = at
    rows.append({"shard": parent["id"], "checkpoint": "SHARD_END"})
    for half in range(2):
        child = {
            "id": len(shards), "range": [str(edges[half]), str(edges[half + 1])],
            "parents": [parent["id"]], "open": at + 1,
        }
        shards.append(child)
        if not lost:
            place = _number(child, LIFE - 300 * (half + 1))
            rows.append({"shard": child["id"], "checkpoint": place})


def _merge(shards: list, rows: list, parents: tuple[dict, dict], at: int) -> None:
    first, second = parents
    first["close"] = second["close"] = at
    child = {
        "id": len(shards), "range": [first["range"][0], second["range"][1]],
        "parents": [first["id"], second["id"]], "open": at + 1,
    }
    shards.append(child)
    rows.append({"shard": first["id"], "checkpoint": "SHARD_END"})
    rows.append({"shard": second["id"], "checkpoint": _number(second, at - 1500)})


@cache
def report_on(case: Case) -> Report:
    """The case, judged."""
    return judged(case, case.items())


def judged(case: Case, items: list[dict], name: str = "orders-app") -> Report:
    """The stream of a case with these rows of an application."""
    snapshot = Snapshot(
        parse(f"kcl://{name}?initial=LATEST&release=3.5.1"), lineage_on(case),
        tuple(images_of(items)),
        {"medium": "dynamodb", "arn": "arn:aws:dynamodb:us-east-1:123456789012:table/x"},
        float(case.now),
    )
    return make(snapshot, RepairOptions())


def lineage_on(case: Case) -> Lineage:
    return lineage_of(case.shards, case.stream["created"], case.retention_hours)


@cache
def hot_key_case(keys: int = 1) -> Case:
    """Shards of which `keys` neighbours, children of a split, have a single hash key and no
    position; with one key there are eight open shards."""
    key = Fraction(1, 2**128)
    edges = [Fraction(i, 6) for i in range(7)]
    ranges = [(str(low), str(high)) for low, high in pairwise(edges)]
    shards: list[dict] = [{"id": i, "range": list(r), "open": 0} for i, r in enumerate(ranges)]
    shards[3]["close"] = 3600
    middle = Fraction(2**127 + 7, 2**128)
    cuts = [edges[3], *(middle + key * n for n in range(keys + 1)), edges[4]]
    for low, high in pairwise(cuts):
        shards.append({
            "id": len(shards), "range": [str(low), str(high)], "parents": [3], "open": 3601,
        })
    rows = [{"shard": 3, "checkpoint": "SHARD_END"}]
    for i in (0, 1, 2, 4, 5, 6, len(shards) - 1):
        rows.append({"shard": i, "checkpoint": _number(shards[i], LIFE - 300)})
    for shard in shards:
        at = shard.pop("at", None)
        shard["records"] = [] if at is None else [{"t": at, "data": f"s{shard['id']}"}]
    table = {
        "title": "hot key", "source": "made here", "consumer": "kcl",
        "stream": {"created": CREATED, "now": LIFE, "shards": shards}, "rows": rows,
        "expect": [{"initial": ["LATEST"], "releases": ["3.5.1"], "findings": []}],
    }
    return from_table(Path("hot.toml"), table)
