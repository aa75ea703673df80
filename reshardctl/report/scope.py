"""Parts a report by shards and rules: which findings count, which shards a plan may write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from reshardctl.codec.argv import option
from reshardctl.diagnosis.rules.base import Finding
from reshardctl.model import ShardId
from reshardctl.model.shards import select
from reshardctl.planning.decision import Scope


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """What an operator selects. Empty fields select everything.

    shards: numbers, ranges and ids. rules: codes of the findings that count. not_rules: codes of
    those that do not.
    """

    shards: tuple[str, ...] = option("--shards", (), commas=True)
    rules: tuple[str, ...] = option("--rule", ())
    not_rules: tuple[str, ...] = option("--not-rule", ())

    def unknown(self, known: Collection[ShardId]) -> list[str]:
        """The shards and ranges that name nothing of what is known."""
        return select(self.shards, known)[1]

    def parted(self, findings: Iterable[Finding], known: Collection[ShardId]) -> Parted:
        """As `part` does."""
        named = set(select(self.shards, known)[0])
        kept: list[Finding] = []
        left_out: list[Finding] = []
        for finding in findings:
            counts = self._has_rule(finding) and (not self.shards or _touches(finding, named))
            (kept if counts else left_out).append(finding)
        shards = named if self.shards else set(known)
        if self.rules:
            shards &= {shard for finding in kept for shard in concerned(finding)}
        elif self.not_rules:
            counted = {shard for finding in kept for shard in concerned(finding)}
            shards -= {s for f in left_out if not self._has_rule(f) for s in f.shards} - counted
        return Parted(tuple(kept), tuple(left_out), Scope(frozenset(shards), self._whole(kept)))

    def _has_rule(self, finding: Finding) -> bool:
        if finding.code in self.not_rules:
            return False
        return not self.rules or finding.code in self.rules

    def _whole(self, kept: Sequence[Finding]) -> bool:
        """Whether what is wrong with the whole consumer is selected."""
        by_rule = self.rules or self.not_rules
        return not by_rule or any(map(concerns_all, kept))


class Parted(Struct, frozen=True):
    """The findings that count, those that do not, and what a plan may write (`None`: anything)."""

    kept: tuple[Finding, ...]
    left_out: tuple[Finding, ...] = ()
    scope: Scope | None = None


def part(
    options: ScopeOptions | None, findings: Iterable[Finding], known: Collection[ShardId]
) -> Parted:
    """Parts findings by what is selected; all count if nothing is.

    known: all shards that the stream lists or a position names.
    """
    return Parted(tuple(findings)) if options is None else options.parted(findings, known)


def scope_json(options: ScopeOptions) -> dict[str, list[str]]:
    """What was selected, for plan files and reports."""
    return {
        "shards": list(options.shards), "rules": list(options.rules),
        "not_rules": list(options.not_rules),
    }


def concerned(finding: Finding) -> set[ShardId]:
    """The shards of a finding; of one that names none, those that its effects come from."""
    return {*finding.shards} or {shard for effect in finding.effects for shard in effect.by}


def concerns_all(finding: Finding) -> bool:
    """Whether a finding is of the whole consumer, as a crash is."""
    return not finding.shards or any(effect.shard is None for effect in finding.effects)


def _touches(finding: Finding, named: Collection[ShardId]) -> bool:
    return concerns_all(finding) or not concerned(finding).isdisjoint(named)
