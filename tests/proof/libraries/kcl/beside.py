"""Single-stream cases as one stream of a multi-stream application, beside a healthy one.

In such a table each row carries its stream in key and attributes, and everything is done for each
stream by itself (KCL 2.7.2 and 3.5.1 PeriodicShardSyncManager, DynamoDBMultiStreamLeaseSerializer).
So the same records are due as in a table of its own, and those of the neighbour besides.
"""

from __future__ import annotations

from dataclasses import replace

from tests.support.case import CASES, Case, Expect, Fixed, load
from tests.support.case_tables import Multi, stored

NEIGHBOUR = "healthy-roots"
RELEASES = frozenset({"2.7.2", "3.5.1"})

# One of each way in which a table is broken and mended: a lost child, both; a child without its
# parents; a merge's lost co-parent; a number of another shard; and what the audits create.
CHOSEN = ("a-both", "a-one", "c2", "e2", "h", "i1", "i2", "k", "row-no-checkpoint")


def beside_cases() -> list[tuple[Case, Case]]:
    """(case, neighbour): each chosen case in multi-stream form."""
    return [_beside(load(CASES / "kcl" / f"{name}.toml")) for name in CHOSEN]


def _beside(case: Case) -> tuple[Case, Case]:
    healthy = _neighbour(case)
    assert healthy.multi is not None
    identifier = f"{case.stream['account']}:{case.stream['name']}:{case.stream['created']}"
    others = tuple(stored(row, healthy.identifier) for row in healthy.rows)
    return (
        replace(
            case,
            name=f"multi.{case.name}",
            multi=Multi(identifier, others),
            expects=tuple(_with(each, healthy) for each in case.expects if _shared(each)),
        ),
        healthy,
    )


def _neighbour(case: Case) -> Case:
    """The healthy case as another stream, as old as the case's own."""
    healthy = load(CASES / "kcl" / f"{NEIGHBOUR}.toml")
    assert (healthy.now, healthy.retention_hours) == (case.now, case.retention_hours), case.name
    stream = {**healthy.stream, "name": "invoices"}
    identifier = f"{stream['account']}:{stream['name']}:{stream['created']}"
    return replace(healthy, stream=stream, multi=Multi(identifier, ()))


def _shared(expect: Expect) -> bool:
    return bool(RELEASES & set(expect.releases))


def _with(expect: Expect, healthy: Case) -> Expect:
    """The same for both releases that hold several streams, and what the neighbour delivers."""
    fixed = expect.fixed
    releases = tuple(sorted(RELEASES & set(expect.releases)))
    mine = {} if expect.dies else _delivered(healthy)
    return replace(
        expect,
        releases=releases,
        delivers={**expect.delivers, **mine},
        fixed=None if fixed is None else _fixed(fixed, healthy),
    )


def _fixed(fixed: Fixed, healthy: Case) -> Fixed:
    return replace(fixed, delivers={**fixed.delivers, **_delivered(healthy)})


def _delivered(healthy: Case) -> dict[str, tuple[str, ...]]:
    own = healthy.expects[0].delivers
    return {f"{healthy.identifier}:{shard}": payloads for shard, payloads in own.items()}
