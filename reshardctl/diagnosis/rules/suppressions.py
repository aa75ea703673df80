"""Findings that the operator accepts, each for a reason and until a date."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reshardctl.diagnosis.rules.base import Finding


@dataclass(frozen=True, slots=True)
class Suppression:
    """`[[suppress]]`.

    shards: their ids, none for every shard. until: the Unix second at which it ends, `None` for no
    end. origin: `reshardctl.toml:31`. day: the day in UTC at whose end it ends, as `2026-12-31`, if
    the file gives a day; `""` if it gives a time.
    """

    consumer: str
    rule: str
    shards: frozenset[str]
    until: float | None
    why: str
    origin: str
    day: str = ""

    def covers(self, finding: Finding) -> bool:
        """Whether it covers the finding.

        A suppression that names shards does not cover a finding about further shards.
        """
        if finding.code != self.rule:
            return False
        return not self.shards or (bool(finding.shards) and self.shards >= set(finding.shards))


@dataclass(frozen=True, slots=True)
class Sifted:
    """Findings parted by suppressions.

    kept: findings that count. hidden: the others, each with what hides it. expired: suppressions
    that covered a kept finding until they ended. unused: those that cover none.
    """

    kept: tuple[Finding, ...]
    hidden: tuple[tuple[Finding, Suppression], ...] = ()
    expired: tuple[Suppression, ...] = ()
    unused: tuple[Suppression, ...] = ()


def sift(
    findings: Iterable[Finding], suppressions: Iterable[Suppression], now: float
) -> Sifted:
    """Part findings by suppressions, as of `now` (Unix seconds); their order is kept."""
    kept: list[Finding] = []
    hidden: list[tuple[Finding, Suppression]] = []
    owned = list(suppressions)
    used: set[int] = set()
    expired: list[Suppression] = []
    for finding in findings:
        covering = [index for index, suppression in enumerate(owned) if suppression.covers(finding)]
        used.update(covering)
        valid = [owned[index] for index in covering if _holds(owned[index], now)]
        if valid:
            hidden.append((finding, valid[0]))
            continue
        kept.append(finding)
        expired += [owned[index] for index in covering if owned[index] not in expired]
    unused = tuple(suppression for index, suppression in enumerate(owned) if index not in used)
    return Sifted(tuple(kept), tuple(hidden), tuple(expired), unused)


def _holds(suppression: Suppression, now: float) -> bool:
    return suppression.until is None or now < suppression.until
