"""What has been drawn and tried, in Cosmic Ray's database, and the score of each room."""

from __future__ import annotations

import difflib
import itertools
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult

from tests.proof.mutants.drawing import ROOMS, ROOT, draw, identity, mutated, source

EXPLAINED = Path(__file__).with_name("explained.toml")
TARGET = 95.0
WITHOUT_HOLES = ("planning", "execution", "journal", "stores")
"""Rooms in which every survivor is explained."""


class Session:
    """The database of one checkout; for one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._database = WorkDB(str(path), WorkDB.Mode.create)

    def drawn(self, rooms: Iterable[str], each: int) -> list[WorkItem]:
        """So many mutants of each room, which the session has from now on."""
        found = [item for room in rooms for item in draw(room, each)]
        known = {item.job_id for item in self._database.work_items}
        self._database.add_work_items(item for item in found if item.job_id not in known)
        return found

    def results(self) -> dict[str, WorkResult]:
        return dict(self._database.results)

    def item(self, name: str) -> WorkItem | None:
        """The mutant of this id, unless its file has changed since."""
        return next((item for item in self._database.work_items if _is(item, name)), None)

    def keep(self, item: WorkItem, result: WorkResult, seconds: float) -> None:
        self._database.set_result(item.job_id, result)
        (spec,) = item.mutations
        outcome = result.test_outcome or result.worker_outcome
        place = f"{spec.module_path}:{spec.start_pos[0]}"
        print(f"{item.job_id} {outcome.value} {seconds:.1f} s {place}", flush=True)

    def _tried(self) -> Iterator[tuple[WorkItem, WorkResult, str]]:
        """With "killed", "survived" or "explained"; of files as they are now."""
        reasons = explained()
        for item, result in self._database.completed_work_items:
            if result.worker_outcome == WorkerOutcome.NO_TEST or not _is(item, item.job_id):
                continue
            (spec,) = item.mutations
            if result.test_outcome == TestOutcome.KILLED:
                yield item, result, "killed"
            elif (str(spec.module_path), _change(result.diff or "")) in reasons:
                yield item, result, "explained"
            else:
                yield item, result, "survived"

    def survivors(self) -> set[str]:
        """The ids of those that nobody has explained."""
        return {item.job_id for item, _, outcome in self._tried() if outcome == "survived"}

    def report(self) -> int:
        """The score of each room; 1 where one is below its target."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for item, _, outcome in self._tried():
            counts[room_of(item)][outcome] += 1
            counts["in all"][outcome] += 1
        print(f"{'room':<12}{'tried':>7}{'killed':>8}{'explained':>11}{'survived':>10}{'score':>8}")
        low = False
        for room in [*ROOMS, "in all"]:
            count = counts[room]
            if not count.total():
                continue
            score = 100 * (1 - count["survived"] / count.total())
            low |= score < (100.0 if room in WITHOUT_HOLES else TARGET)
            kinds = f"{count['killed']:>8}{count['explained']:>11}{count['survived']:>10}"
            print(f"{room:<12}{count.total():>7}{kinds}{score:>7.1f}%")
        return int(low)

    def print_survivors(self, room: str) -> int:
        """Those that nobody has explained, of one room or of all."""
        found = [each for each in self._tried() if each[2] == "survived"]
        for item, result, _ in sorted(found, key=lambda each: _place(each[0])):
            (spec,) = item.mutations
            if room in ("", room_of(item)):
                operator = spec.operator_name.rpartition("/")[2]
                print(f"{item.job_id} {spec.module_path}:{spec.start_pos[0]} {operator}")
                print(f"{result.output}\n{result.diff}\n")
        return 0


def by_turns(items: Iterable[WorkItem]) -> Iterator[WorkItem]:
    """One of each room after the other."""
    rooms: defaultdict[str, list[WorkItem]] = defaultdict(list)
    for item in items:
        rooms[room_of(item)].append(item)
    for turn in itertools.zip_longest(*rooms.values()):
        yield from (item for item in turn if item is not None)


def room_of(item: WorkItem) -> str:
    return item.mutations[0].module_path.parts[1]


def result_of(spec: MutationSpec, trial: Callable[[str], str]) -> WorkResult:
    """trial: given the file's text with the change, the test that failed, or "survived …"."""
    text = mutated(spec)
    if text is None:
        return WorkResult(WorkerOutcome.NO_TEST, "the same program")
    said = trial(text)
    survived = said.startswith("survived")
    outcome = TestOutcome.SURVIVED if survived else TestOutcome.KILLED
    lines = difflib.unified_diff(
        source(spec.module_path).splitlines(), text.splitlines(), lineterm="", n=1
    )
    return WorkResult(WorkerOutcome.NORMAL, said, outcome, "\n".join(list(lines)[2:]))


def explained() -> set[tuple[str, str]]:
    """Changes that no test can notice, as file and changed lines; the file says why."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("survivor", [])
    return {(each["file"], each["change"].strip()) for each in entries}


def _change(diff: str) -> str:
    """The lines that differ, without their indentation."""
    lines = [line for line in diff.splitlines() if line[:1] in ("+", "-")]
    return "\n".join(line[0] + line[1:].strip() for line in lines)


def _is(item: WorkItem, name: str) -> bool:
    """Whether it has this id still."""
    (spec,) = item.mutations
    if item.job_id != name or not (ROOT / spec.module_path).is_file():
        return False
    return identity(spec) == name


def _place(item: WorkItem) -> tuple[str, tuple[int, int]]:
    (spec,) = item.mutations
    return str(spec.module_path), spec.start_pos
