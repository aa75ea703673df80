"""What is run: every situation of the case files, and plans that are wrong on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.proof.libraries.kcl.laboratory import Start
from tests.proof.libraries.kcl.situations import Situation, situations
from tests.proof.libraries.repair import CONNECTED, mend
from tests.support.case import CASES, Case, Expect, load
from tests.support.case_stream import shard_name

ONE_OF_EACH = ("1.15.3", "2.7.2", "3.5.1")
"""The newest release of each generation."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A situation, with the table that it starts from."""

    situation: Situation

    def __str__(self) -> str:
        return self.id

    @property
    def id(self) -> str:
        return self.situation.id

    def start(self) -> Start:
        """The table as stored; repaired by the tool or, until that is connected, by hand."""
        each, fixed = self.situation, self.situation.expect.fixed
        stored = Start(
            each.case, each.release, each.initial, each.case.items(), beside=each.beside,
            awaits=each.delivers,
        )  # fmt: skip
        if not each.repaired or fixed is None:
            return stored
        if CONNECTED:
            return replace(stored, mend=mend(each))
        return replace(stored, items=each.case.with_writes(fixed.writes))


@dataclass(frozen=True, slots=True)
class Wrong:
    """A plan that loses records: the shards that are robbed must be told apart from the rest."""

    case: Case
    release: str
    initial: str
    writes: Mapping[int, str]
    robbed: tuple[str, ...]

    def __str__(self) -> str:
        return self.id

    @property
    def id(self) -> str:
        writes = ",".join(f"{shard}={wanted}" for shard, wanted in self.writes.items())
        return f"{self.release}/{self.case.name}/{self.initial}/wrong:{writes}"

    @property
    def expect(self) -> Expect:
        """What a right plan leads to."""
        return next(each for each in self.case.expects if self.initial in each.initial)

    def start(self) -> Start:
        items, fixed = self.case.with_writes(self.writes), self.expect.fixed
        assert fixed is not None
        kept = {s: payloads for s, payloads in fixed.delivers.items() if s not in self.robbed}
        return Start(self.case, self.release, self.initial, items, awaits=kept)


def _wrong(case: str, writes: Mapping[int, str], *robbed: int) -> list[Wrong]:
    loaded = load(CASES / "kcl" / f"{case}.toml")
    shards = tuple(shard_name(shard) for shard in robbed)
    return [Wrong(loaded, release, "LATEST", writes, shards) for release in ONE_OF_EACH]


PLANNED = [Planned(situation) for situation in situations()]

WRONG = [
    # The children of a finished parent, at LATEST: what they hold already is skipped.
    *_wrong("a-both", {2: "LATEST", 3: "LATEST"}, 2, 3),
    # One child forgotten: the library never creates it.
    *_wrong("a-both", {2: "TRIM_HORIZON"}, 3),
    # A parent with unread records, ended: nothing reads them any more.
    *_wrong("c-pending", {2: "TRIM_HORIZON", 3: "TRIM_HORIZON", 0: "SHARD_END"}, 0),
]
