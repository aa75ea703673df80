"""Reports of the case files, as inspect and fix would have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from datetime import datetime
from functools import cache
from typing import Any

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.model import after
from reshardctl.planning.plan import Plan
from reshardctl.planning.policy import Accept
from reshardctl.render.context import Context
from reshardctl.report.report import RepairOptions, Report, make
from tests.support.case import Case, all_cases
from tests.support.covering import few
from tests.support.grouped import Situation, by_case
from tests.support.judging import asked, images_of, lineage_of, resolved

CASES = {case.name: case for case in all_cases("kcl")}
STORED = [name for name, case in CASES.items() if case.rows]
SHOWN = few(tuple(CASES[name] for name in STORED))
"""What a format has to show is in these; what does not depend on formats is asked of all."""
TABLE = "arn:aws:dynamodb:us-east-1:123456789012:table/orders-app"


def report_of(
    name: str, options: str = "", policy: str = "lossless", items: list[dict] | None = None,
    accept: Accept | None = None, bootstrap: bool = False,
) -> Report:
    """A case's report; `items` replace its rows."""
    if items is None and accept is None:
        return _stored_report(name, options, policy, bootstrap)
    return _made(name, options, policy, items, accept, bootstrap)


@cache
def _stored_report(name: str, options: str, policy: str, bootstrap: bool) -> Report:
    return _made(name, options, policy, None, None, bootstrap)


def _made(
    name: str, options: str, policy: str, items: list[dict] | None, accept: Accept | None,
    bootstrap: bool,
) -> Report:
    case = CASES[name]
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    locator = parse("kcl://orders-app" + (f"?{options}" if options else ""))
    images = images_of(case.items() if items is None else items)
    snapshot = Snapshot(
        locator, lineage, tuple(images), {"medium": "dynamodb", "arn": TABLE}, float(case.now)
    )
    wanted = resolved(case, asked(case, policy), lineage)
    return make(snapshot, RepairOptions(wanted, accept or Accept(), bootstrap))


def by_name(test: Callable[..., None]) -> Any:
    """A test of a case's name: of those in SHOWN at every turn, of all others in the long suite."""
    return by_case(((name, "", (name,)) for name in STORED), SHOWN)(test)


def context(report: Report, **wanted) -> Context:
    return Context((report.snapshot.locator.text, "--stream", "orders"), **wanted)


def then(report: Report) -> Report:
    """The report on the rows as its plan leaves them."""
    assert isinstance(report.decision, Plan)
    rows = tuple(after(report.snapshot.images, report.decision.steps))
    snapshot = Snapshot(
        report.snapshot.locator, report.snapshot.lineage, rows, report.snapshot.store,
        report.snapshot.now,
    )
    return make(snapshot, RepairOptions())


def with_row(key: str, kind: str) -> list[dict]:
    """The leases of a-both and a row of another kind, with these texts."""
    return [*CASES["a-both"].items(), {"leaseKey": {"S": key}, "entityType": {"S": kind}}]


def spoilt(document: Any, where: Iterable[str | int]) -> Iterator[Any]:
    """The document with a member too many, and with one too few, in the object at this place."""
    for stray in (True, False):
        inner = whole = deepcopy(document)
        for step in where:
            inner = inner[step]
        if stray:
            inner["stray"] = 1
        else:
            del inner[next(iter(inner))]
        yield whole


def every_expectation() -> Iterator[Situation]:
    """Case, what it expects, and the locator options under which it does, for `by_case`."""
    for name in STORED:
        case = CASES[name]
        for expect in case.expects:
            for initial in expect.initial:
                for release in expect.releases:
                    options = f"initial={_absolute(case, initial)}&release={release}"
                    yield name, options, (case, expect, options)


def _absolute(case: Case, initial: str) -> str:
    if not initial.startswith("AT_TIMESTAMP:+"):
        return initial
    at = case.stream["created"] + float(initial.partition("+")[2])
    return f"AT_TIMESTAMP:{datetime.fromtimestamp(at).astimezone().isoformat()}".replace("+", "%2B")
