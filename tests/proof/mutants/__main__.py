"""Changes the program in small ways, and runs the tests that cover each change.

::

    scripts/test mutants cover [TEST...]    which test runs which line: of the default suite, once
    scripts/test mutants run                tries mutants, 250 of each room; goes on where it ended
    scripts/test mutants run --again        survivors that nobody has explained, once more
    scripts/test mutants report             the score of each room
    scripts/test mutants survivors [ROOM]   the change, and how many tests run it
    scripts/test mutants show ID            one mutant again: its change, and what the tests print

A mutant is killed when one test fails. Its tests are those that run the changed line, cheapest
first, for at most ``--most`` seconds. ``report`` ends with 1 where a room is below its target.
"""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
import threading
import time
from pathlib import Path

from cosmic_ray.work_item import TestOutcome, WorkItem, WorkResult

from tests.proof.covered.measuring import BY_TEST, FAILED, PYTHON, measure
from tests.proof.mutants.covering import Covering
from tests.proof.mutants.drawing import ROOMS, ROOT
from tests.proof.mutants.session import Session, by_turns, result_of
from tests.proof.mutants.trying import Trial, Worker

HOME = ROOT / "build" / "mutants"
COVERAGE = HOME / "coverage"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test mutants")
    parser.add_argument("command", choices=["cover", "run", "report", "survivors", "show"])
    parser.add_argument("what", nargs="*", help="tests, a room, or the id of a mutant")
    parser.add_argument("--each", type=int, default=250, metavar="N", help="mutants of each room")
    parser.add_argument("--rooms", default=",".join(ROOMS), metavar="A,B")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--most", type=float, default=90.0, metavar="SECONDS", help="of a mutant")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the whole run")
    parser.add_argument("--again", action="store_true", help="also unexplained survivors")
    wish = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    if wish.command == "cover":
        return cover(wish.what)
    session = Session(HOME / "session.sqlite")
    match wish.command:
        case "run":
            return run(session, wish)
        case "report":
            return session.report()
        case "survivors":
            return session.print_survivors("".join(wish.what))
        case _:
            return show(session, "".join(wish.what), wish.most)


def cover(tests: list[str]) -> int:
    """The default suite, or these files of it, under coverage.py.

    What is skipped or fails there is not used afterwards.
    """
    code = measure(COVERAGE, BY_TEST, tests)
    return 0 if code == FAILED else code


def run(session: Session, wish: argparse.Namespace) -> int:
    """Tries what has not been tried; one mutant of each room by turns, so an early end is even."""
    covering = Covering(COVERAGE)
    drawn = session.drawn(wish.rooms.split(","), wish.each)
    done = session.results()
    again = session.survivors() if wish.again else set[str]()
    waiting: queue.SimpleQueue[WorkItem] = queue.SimpleQueue()
    for item in by_turns(drawn):
        result = done.get(item.job_id)
        if result is None or item.job_id in again:
            waiting.put(item)
    print(f"{waiting.qsize()} of {len(drawn)} mutants to be tried", flush=True)
    deadline, lock = time.monotonic() + wish.seconds, threading.Lock()

    def work(folder: Path) -> None:
        worker = Worker(folder, PYTHON)
        try:
            while time.monotonic() < deadline and not waiting.empty():
                item = waiting.get()
                began = time.monotonic()
                result = tried(worker, item, covering, wish.most)
                with lock:
                    session.keep(item, result, time.monotonic() - began)
        finally:
            worker.close()

    with tempfile.TemporaryDirectory(prefix="reshardctl-mutants-") as folder:
        threads = [
            threading.Thread(target=work, args=(Path(folder) / str(place),))
            for place in range(wish.jobs)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    session.report()
    ended_early = not waiting.empty() and time.monotonic() < deadline
    return int(ended_early)


def tried(
    worker: Worker, item: WorkItem, covering: Covering, most: float, *, aloud: bool = False
) -> WorkResult:
    """The result of one mutant; aloud: what the tests print is printed."""
    (spec,) = item.mutations

    def trial(text: str) -> str:
        tests = covering.tests(spec.module_path, spec.start_pos[0], spec.end_pos[0])
        ran = 0
        with worker.changed(spec.module_path, text):
            for part in covering.rounds(spec.module_path, tests, most):
                found: Trial = worker.run(part, sum(covering.seconds[name] for name in part))
                ran += len(part)
                if aloud:
                    print(found.output)
                if found.killer:
                    return found.killer
        return f"survived {ran} of {len(tests)} tests that run it"

    return result_of(spec, trial)


def show(session: Session, name: str, most: float) -> int:
    """One mutant with what its tests print. Exit 1 where it survives."""
    item = session.item(name)
    if item is None:
        print(f"no mutant {name} in {HOME}: scripts/test mutants survivors", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="reshardctl-mutants-") as folder:
        worker = Worker(Path(folder) / "0", PYTHON)
        try:
            result = tried(worker, item, Covering(COVERAGE), most, aloud=True)
        finally:
            worker.close()
    print(result.diff)
    print(result.output)
    return 1 if result.test_outcome == TestOutcome.SURVIVED else 0


if __name__ == "__main__":
    sys.exit(main())
