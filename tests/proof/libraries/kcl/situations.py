"""Every situation that the real library is put into: case, release, initial position, repaired.

``python -m tests.proof.libraries.kcl.situations`` prints their ids, for executed.txt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.proof.libraries.kcl.beside import beside_cases
from tests.proof.libraries.kcl.built import HERE, RELEASES
from tests.support.case import Case, Delivery, Expect, all_cases

LISTED = HERE / "executed.txt"
FOLDERS = ("kcl", "kcl-tables")

# KCL 3.1.3 keeps three tables where 3.5.1 keeps one, and starts as slowly; in what it does with
# leases it is the same (HierarchicalShardSyncer, BlockOnParentShardTask, ShutdownTask). So it is
# run on one case of each kind of broken table, and has to do as 3.5.1 does.
AS_3_5_1 = frozenset({
    "a-both", "a-one", "b", "c", "c2", "d1-waiting", "d2", "e1", "e2", "g", "h", "h2", "i1", "i2",
    "j-latest", "j-trim-horizon", "k", "healthy-roots", "healthy-merge-waiting",
    "row-end-with-sub", "row-no-checkpoint", "timestamp-sentinel",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Situation:
    """One restart of one release on one table, and what it has to deliver."""

    case: Case
    release: str
    initial: str
    expect: Expect
    repaired: bool
    beside: tuple[Case, ...] = ()

    @property
    def id(self) -> str:
        state = "unrepaired"
        if self.repaired and self.expect.fixed is not None:
            state = f"repaired-{self.expect.fixed.policy}"
        return "/".join([self.release, self.case.name, self.initial, state])

    @property
    def delivers(self) -> Delivery:
        fixed = self.expect.fixed
        return fixed.delivers if self.repaired and fixed is not None else self.expect.delivers

    @property
    def order(self) -> tuple[tuple[str, str], ...]:
        fixed = self.expect.fixed
        return fixed.order if self.repaired and fixed is not None else self.expect.order

    @property
    def dies(self) -> bool:
        return self.expect.dies and not self.repaired


def situations() -> list[Situation]:
    """All of them, by case; ids are unique."""
    cases = [case for folder in FOLDERS for case in all_cases(folder)]
    found = [each for case in cases for each in _of(case)]
    found += [each for case, healthy in beside_cases() for each in _of(case, healthy)]
    ids = [each.id for each in found]
    if twice := {each for each in ids if ids.count(each) > 1}:
        raise ValueError(f"expected twice, perhaps differently: {sorted(twice)}")
    return found


def listed() -> set[str]:
    """The ids in the checked-in list; a line that starts with # is a remark."""
    lines = LISTED.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def _of(case: Case, *beside: Case) -> Iterator[Situation]:
    for expect in case.expects:
        for release in sorted(_releases(case, expect)):
            for initial in expect.initial:
                yield Situation(case, release, initial, expect, False, beside)
                if expect.fixed is not None and expect.fixed.writes:
                    yield Situation(case, release, initial, expect, True, beside)


def _releases(case: Case, expect: Expect) -> set[str]:
    named = set(expect.releases) & set(RELEASES)
    chosen = case.name in AS_3_5_1 and "3.5.1" in named
    return named | {"3.1.3"} if chosen else named


if __name__ == "__main__":
    print("\n".join(sorted(situation.id for situation in situations())))
