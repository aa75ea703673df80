"""Every situation that the real Go libraries are put into.

``python -m tests.proof.libraries.go.situations`` prints their ids, for executed.txt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.support.case import CASES, Case, Delivery, Expect, Fixed, all_cases, load
from tests.support.case_stream import shard_name
from tests.support.dialects import kinesis_consumer

RELEASES = {
    "kinsumer": "snowplow-1.7",
    "kinesis-consumer": "0.5.0",
    "telegraf-1.34": "telegraf-1.34",
    "telegraf-1.39": "telegraf-1.39",
}
"""The release of each library that is started, as cases name it."""
TELEGRAF = ("telegraf-1.34", "telegraf-1.39")
"""Telegraf's input: its cases are kinesis-consumer's, and it has no store but DynamoDB."""
STORES = ("redis", "postgres", "mysql")
UNDONE = {
    "kinsumer": ("e", "f", "g-latest", "g-timestamp", "c1-no-cache"),
    "kinesis-consumer": ("a", "b3", "c", "f", "row-bytes", "row-null", "row-null-parent"),
}
ELSEWHERE = frozenset({"a", "b3", "b4", "c", "chain", "e", "f", "f-swapped", "merge"})
"""Of kinesis-consumer itself, those that are run on its other three stores, too."""


ROBBED = {
    "kinsumer": ("g-timestamp", {1: "START", 2: "s2-2", -1: "1 2"}),
    "kinesis-consumer": ("a", {1: "START", 2: "s2-2"}),
}
"""A case of each library, and a plan for its first expectation that loses the head of shard 2."""
POSITIONS = {
    "kinesis-consumer": ("a", {0: "s0-1", 1: "s1-3", 2: "TRIM_HORIZON"}),
}
"""A case of a library, and after which record, or where, each shard is told to start by a file."""


class State(StrEnum):
    UNREPAIRED = "unrepaired"
    REPAIRED = "repaired"
    UNDONE = "undone"
    BOOTSTRAPPED = "bootstrapped"
    ROBBED = "robbed"
    """Mended by hand, and wrongly."""
    POSITIONED = "positioned"
    """Put to the positions of a file."""


@dataclass(frozen=True, slots=True)
class Situation:
    """One start of a library on one store, and what it has to deliver. place: of the expectation
    in its case."""

    library: str
    case: Case
    place: int
    initial: str
    store: str
    state: State

    @property
    def consumer(self) -> str:
        return self.case.consumer

    @property
    def path(self) -> Path:
        return self.case.path

    @property
    def release(self) -> str:
        return RELEASES[self.library]

    @property
    def expect(self) -> Expect:
        return self.case.expects[self.place]

    @property
    def id(self) -> str:
        probed = "-probed" if self.expect.probe else ""
        words = [self.library, self.store, self.case.name, self.initial, f"{self.state}{probed}"]
        return "/".join(words)

    @property
    def delivers(self) -> Delivery:
        if self.state is State.POSITIONED:
            return self._positioned
        if self.state is State.BOOTSTRAPPED:
            live = self.case.live
            said = {shard_name(s): tuple(f"n{s}-{i}" for i in range(live.n)) for s in live.shards}
            return {shard: said.get(shard, ()) for shard in self.expect.delivers}
        return self._part.delivers

    @property
    def _positioned(self) -> Delivery:
        """What follows the positions of the file, and what arrives after the start."""
        live = self.case.live
        found = {}
        for shard, told in POSITIONS[self.consumer][1].items():
            payloads = [payload for _, payload, _ in self.case.records[shard_name(shard)]]
            rest = payloads[payloads.index(told) + 1 :] if told in payloads else payloads
            new = [f"n{shard}-{i}" for i in range(live.n)] if shard in live.shards else []
            found[shard_name(shard)] = (*rest, *new)
        return found

    @property
    def order(self) -> tuple[tuple[str, str], ...]:
        apart = self.state in (State.BOOTSTRAPPED, State.POSITIONED)
        return () if apart else self._part.order

    @property
    def dies(self) -> bool:
        apart = self.state in (State.BOOTSTRAPPED, State.POSITIONED)
        return not apart and self._part.dies

    @property
    def _part(self) -> Expect | Fixed:
        """What the case says of this state."""
        fixed = self.expect.fixed
        mended = self.state in (State.REPAIRED, State.ROBBED)
        return fixed if mended and fixed is not None else self.expect


def situations(library: str) -> list[Situation]:
    """All of a library, by case; ids are unique."""
    found: dict[str, Situation] = {}
    for case in all_cases(_consumer(library)):
        for each in _of(library, case):
            other = found.setdefault(each.id, each)
            if (other.delivers, other.dies) != (each.delivers, each.dies):
                raise ValueError(f"{each.id}: expected twice, differently")
    return list(found.values())


def robbed(library: str) -> list[Situation]:
    """What the comparison with `fixed` has to fail for, or it proves nothing."""
    name, _ = ROBBED[_consumer(library)]
    case = load(CASES / _consumer(library) / f"{name}.toml")
    place, initial = _first(library, case)
    stores = _stores(library, case)
    return [Situation(library, case, place, initial, s, State.ROBBED) for s in stores]


def positioned(library: str) -> list[Situation]:
    """The case of `POSITIONS` on each store of the library."""
    consumer = _consumer(library)
    case = load(CASES / consumer / f"{POSITIONS[consumer][0]}.toml")
    place, initial = _first(library, case)
    stores = _stores(library, case)
    return [Situation(library, case, place, initial, s, State.POSITIONED) for s in stores]


def _consumer(library: str) -> str:
    return "kinesis-consumer" if library in TELEGRAF else library


def _first(library: str, case: Case) -> tuple[int, str]:
    """The first expectation of the library's release, and its first start mode."""
    release = RELEASES[library]
    return next((i, e.initial[0]) for i, e in enumerate(case.expects) if release in e.releases)


def _of(library: str, case: Case) -> Iterator[Situation]:
    for place, expect in enumerate(case.expects):
        if RELEASES[library] not in expect.releases:
            continue
        for initial in expect.initial:
            for store in _stores(library, case):
                for state in _states(case, expect):
                    yield Situation(library, case, place, initial, store, state)
    if library == "kinsumer" and case.name == "b1":
        yield Situation(library, case, 0, "TRIM_HORIZON", "ddb", State.BOOTSTRAPPED)


def _states(case: Case, expect: Expect) -> Iterator[State]:
    yield State.UNREPAIRED
    if expect.fixed is not None and expect.fixed.writes:
        yield State.REPAIRED
        if case.name in UNDONE[case.consumer]:
            yield State.UNDONE


def _stores(library: str, case: Case) -> tuple[str, ...]:
    """Other stores have neither raw attributes nor items."""
    if library in TELEGRAF:
        return ("ddb",)
    if case.stores:
        return case.stores
    if library == "kinsumer" or case.name not in ELSEWHERE:
        return ("ddb",)
    rows = [image.attributes for image in kinesis_consumer.images(case)]
    assert all(len(row) == 3 for row in rows), case.name
    return ("ddb", *STORES)


def every_id() -> list[str]:
    """Of all starts, sorted: what executed.txt lists."""
    found = [s.id for name in RELEASES for s in (*situations(name), *robbed(name))]
    found += [s.id for name in RELEASES if name != "kinsumer" for s in positioned(name)]
    return sorted(found)


if __name__ == "__main__":
    print("\n".join(every_id()))
