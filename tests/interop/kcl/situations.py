"""Every situation that the real library is put into: case, release, initial position, repaired.

``python -m tests.interop.kcl.situations`` prints their ids, for executed.txt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.case import Case, Delivery, Expect, all_cases
from tests.interop.kcl.built import HERE, RELEASES

LISTED = HERE / "executed.txt"


@dataclass(frozen=True, slots=True)
class Situation:
    """One restart of one release on one table, and what it has to deliver."""

    case: Case
    release: str
    initial: str
    expect: Expect
    repaired: bool

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
    found = [each for case in all_cases("kcl") for each in _of(case)]
    ids = [each.id for each in found]
    if twice := {each for each in ids if ids.count(each) > 1}:
        raise ValueError(f"expected twice, perhaps differently: {sorted(twice)}")
    return found


def listed() -> set[str]:
    """The ids in the checked-in list; a line that starts with # is a remark."""
    lines = LISTED.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def _of(case: Case) -> Iterator[Situation]:
    for expect in case.expects:
        for release in sorted(set(expect.releases) & set(RELEASES)):
            for initial in expect.initial:
                yield Situation(case, release, initial, expect, repaired=False)
                if expect.fixed is not None and expect.fixed.writes:
                    yield Situation(case, release, initial, expect, repaired=True)


if __name__ == "__main__":
    print("\n".join(sorted(situation.id for situation in situations())))
