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

    skips_unreadable: a row without leaseCounter or ownerSwitchesSinceCheckpoint is left out;
    otherwise listing the table fails and the worker dies after twenty attempts.
    takes_foreign: rows of other kinds in the lease table are expected; otherwise they kill it.
    leader_lock: a killed leader's lock keeps unowned leases unassigned until it expires.
    """

    release: str
    first: tuple[int, ...]
    skips_unreadable: bool
    takes_foreign: bool
    leader_lock: bool
    source: str


KCL_2 = Traits("2.7.2", (2, 3), False, False, False, "runs on 2.7.2")
KCL_3 = Traits("3.1.3", (3, 0), False, False, True, "runs on 3.1.3")
KCL_3_5 = Traits("3.5.1", (3, 4, 3), True, True, True, "runs on 3.5.1")

RELEASES = (KCL_2, KCL_3, KCL_3_5)

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
