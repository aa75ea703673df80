"""How releases of KCL differ in what they do with a lease table.

Sources: DynamoDBLeaseSerializer and LeaseRefresher of 2.7.2, 3.1.3 and 3.5.1, and runs of these
on broken tables in November 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reshardctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Traits:
    """What sets a range of releases apart.

    dies_without: attributes without which listing the table fails, and the worker dies after
    twenty attempts; a row that lacks another needed one is left out.
    audits_skip_unreadable: the audit passes over such a row; otherwise it throws every time.
    takes_foreign: rows of other kinds in the lease table are expected; otherwise they kill it.
    leader_lock: a killed leader's lock keeps unowned leases unassigned until it expires.
    """

    release: str
    first: tuple[int, ...]
    dies_without: frozenset[str]
    audits_skip_unreadable: bool
    takes_foreign: bool
    leader_lock: bool
    source: str


COUNTER, SWITCHES = "leaseCounter", "ownerSwitchesSinceCheckpoint"

KCL_2 = Traits(
    "2.7.2", (2, 3), frozenset({COUNTER, SWITCHES}), False, False, False, "runs on 2.7.2"
)
KCL_3 = Traits("3.1.3", (3, 0), frozenset({COUNTER}), False, False, True, "runs on 3.1.3")
KCL_3_5 = Traits("3.5.1", (3, 4, 3), frozenset(), True, True, True, "runs on 3.5.1")

RELEASES = (KCL_2, KCL_3, KCL_3_5)

UNKNOWN = (4, 0, 0)
"""The first version of which nothing is known."""

_VERSION = re.compile(r"\d+(\.\d+){0,3}\Z", re.ASCII)


def traits_of(release: str) -> Traits:
    """The traits of a full version ("2.6.1") or of a prefix ("3.5", "3").

    A prefix means its newest release. Raises UsageError for what this project cannot judge.
    """
    if not _VERSION.match(release):
        raise UsageError(
            f"release={release}: not a KCL version", "write it as in the pom, e.g. release=2.7.2"
        )
    version = _newest(tuple(int(part) for part in release.split(".")))
    if version >= UNKNOWN:
        raise UsageError(
            f"release={release}: no such KCL is known to this reshardctl",
            "it knows 2.3 to 3.5; write it as in the pom, e.g. release=3.5.1",
        )
    for traits in reversed(RELEASES):
        if version >= traits.first:
            return traits
    raise UsageError(
        f"release={release}: KCL before 2.3 synchronises leases in another way, "
        "which reshardctl does not model yet",
        "judge it by hand, or start the table with KCL 2.3 or later",
    )


def _newest(version: tuple[int, ...]) -> tuple[int, ...]:
    return version if len(version) > 2 else (*version, 99, 99)[:3]
