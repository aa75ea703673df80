"""`--live` beside a worker that does anything between two calls: nothing lost or half done."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.commands.survey import survey
from reshardctl.commands.write import proven, verify
from reshardctl.consumers import locator
from reshardctl.errors import HalfDone, Refused, ReshardError, StalePlan
from reshardctl.execution import apply as writing
from reshardctl.execution import plan_file
from reshardctl.execution.proof import renewing
from reshardctl.exit import Exit
from reshardctl.journal import Header, Journal, read
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, Image, Probe, ShardId, Step, Update, Write
from reshardctl.planning.plan import Plan
from reshardctl.planning.writes import rebase
from reshardctl.report.report import RepairOptions
from reshardctl.snapshot import Ports
from tests.contracts.memory_store import MemoryStore
from tests.support.case import CASES, Case, load
from tests.support.judging import images_of, lineage_of, options_of
from tests.support.plans import MOVING, OWNERS, apply, header, lease
from tests.support.plans import Plan as Rows
from tests.support.running_consumer import Meeting, Worker

ACTIONS = ("renew", "read", "take")
LIVE = ("a-one", "a-both", "e1", "e2", "h", "h-open")
"""Cases whose plan is live; shard 1 of each is read on meanwhile."""
RENEWING = MOVING - OWNERS


class Listed:
    """A stream that is listed as its case says."""

    records = None

    def __init__(self, case: Case) -> None:
        self._lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)

    def lineage(self, _stream: str, /) -> Lineage:
        return self._lineage

    def probe(self, stream: str, shard: ShardId, _since: Cut, /) -> Probe:
        raise AssertionError(f"no record is read of {shard} in {stream}")

    def takes(self, _stream: str, _numbers: Iterable[int], _iterator: str, /) -> dict[int, bool]:
        return {}

    def streams(self) -> dict[str, float]:
        return {}


@cache
def case_of(name: str) -> Case:
    return load(CASES / "kcl" / f"{name}.toml")


class Scene:
    """A case with its worker at work, and our fix of it."""

    def __init__(self, name: str, path: Path, todo: dict[int, str], release: str = "2.7.2") -> None:
        case = case_of(name)
        medium = MemoryStore(images_of(case.items()))
        self.rows, self.worker = medium, Worker(medium, case)
        acts: dict[int, Callable[[], None]] = {
            at: getattr(self.worker, action) for at, action in todo.items()
        }
        self.medium = Meeting(medium, acts)
        words = options_of(case, "LATEST", release)
        self.place = locator.parse(
            "kcl://orders-app?" + "&".join(f"{n}={v}" for n, v in words.items())
        )
        self._path = path
        self.ports = Ports(Listed(case), self.medium, lambda: case.now, lambda _: None)
        self.expected = next(e for e in case.expects if "LATEST" in e.initial).fixed.delivers

    def plan(self) -> plan_file.SavedPlan:
        report = survey(self.ports, "orders", self.place, RepairOptions())
        if not isinstance(report.decision, Plan):
            raise StalePlan("nothing is left to do")
        return plan_file.of_report(report, probe=False)

    def fix(self) -> None:
        plan = self.plan()
        head = Header(plan.digest, plan.locator, plan.store, {"arn": ""}, "lossless", "", "",
                      plan.steps)  # fmt: skip
        self._path.unlink(missing_ok=True)
        with Journal.create(self._path, head) as journal:
            steps = proven(self.ports, plan, self.place, live=True)
            writing.apply(
                plan.steps, steps, self.medium, journal, renewing=renewing(self.place, live=True)
            )
            verify(self.ports, plan, self.place, journal)

    def missing(self) -> dict[str, list[str]]:
        """Stored payloads that the worker has not delivered when it has nothing left to do."""
        self.worker.go_on()
        wanted = {
            shard: [p for p in payloads if not p.startswith("n")]
            for shard, payloads in self.expected.items()
        }
        found = {
            shard: [p for p in payloads if p not in self.worker.delivered[shard]]
            for shard, payloads in wanted.items()
        }
        return {shard: payloads for shard, payloads in found.items() if payloads}


@cache
def calls(name: str) -> int:
    """How many calls a fix makes where nothing comes between."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        scene = Scene(name, Path(folder) / "journal", {})
        scene.fix()
        return scene.medium.calls


@pytest.mark.parametrize("name", LIVE)
def test_the_worker_alone_loses_what_the_fix_saves(name: str, tmp_path: Path) -> None:
    """Else the tests below would prove nothing."""
    scene = Scene(name, tmp_path / "journal", {})
    assert scene.missing()


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", LIVE)
def test_whatever_it_does_between_two_calls_nothing_is_lost_or_half_done(name, step, tmp_path):
    """Every two places between calls, and every two things that a worker does there; of the pairs
    of things, every fourth in turn at every turn."""
    places = list(itertools.combinations(range(calls(name) + 1), 2))
    every = itertools.product(places, itertools.product(ACTIONS, repeat=2))
    fixed = refused = 0
    for (first, second), acts in itertools.islice(every, LIVE.index(name) % step, None, step):
        todo = {first: acts[0], second: acts[1]}
        scene = Scene(name, tmp_path / "journal", todo)
        try:
            scene.fix()
        except Refused:
            assert scene.medium.written == 0, todo
            refused += 1
            continue
        assert scene.missing() == {}, todo
        fixed += 1
    print(name, fixed, "fixed", refused, "refused")
    assert fixed > refused


@pytest.mark.parametrize("name", ["e1", "e2", "h"])
def test_a_hand_off_between_two_calls_is_never_written_over(name: str, tmp_path: Path) -> None:
    """KCL 3.x gives a lease to another worker without counting it up (DynamoDBLeaseRefresher,
    initiateGracefulLeaseHandoff)."""
    for at in range(calls(name)):
        scene = Scene(name, tmp_path / "journal", {at: "hand_over"}, "3.5.1")
        before = scene.medium.written
        try:
            scene.fix()
        except ReshardError:
            handed = [i for i in scene.rows.read() if "checkpointOwner" in i.attributes]
            assert scene.medium.written == before == 0 and handed
        else:
            assert not any(
                i.attributes["checkpoint"] == {"S": "TRIM_HORIZON"}
                and "checkpointOwner" in i.attributes for i in scene.rows.read()
                if at < calls(name) - 1
            )


def test_the_worker_here_absorbs_what_leaves_it_the_lease(tmp_path: Path) -> None:
    """Runs on KCL 1.15.3, 2.7.2 and 3.5.1, November 2026: a checkpoint edited alone or with its
    counter is overwritten; with the owner taken away it is where the next lease begins."""
    shard = "shardId-000000000002"
    for changes, heeded in (({}, False), ({"leaseCounter": 1}, False), ({"leaseOwner": 1}, True)):
        scene = Scene("e1", tmp_path / "journal", {})
        row = dict(scene.rows.get([shard])[shard].attributes)
        row["checkpoint"] = {"S": "TRIM_HORIZON"}
        if changes:
            row["leaseCounter"] = {"N": str(int(row["leaseCounter"]["N"]) + 1)}
        if "leaseOwner" in changes:
            del row["leaseOwner"]
        scene.rows.plant(Image(shard, row))
        assert (shard not in scene.missing()) is heeded


# step by step, whatever the consumer


def evicted(image: Image) -> Write:
    change = Update({"checkpoint": {"S": "TRIM_HORIZON"}}, ("leaseOwner",), {"leaseCounter": 1})
    guard = ("checkpoint", "leaseCounter", "leaseOwner", "checkpointOwner")
    return Write(image.key, change, image, "", guard, live=True)


def steps_of(sizes: tuple[int, ...]) -> tuple[Step, ...]:
    numbers = iter(range(9))
    return tuple(
        Step(f"step {n}", tuple(evicted(lease(next(numbers))) for _ in range(size)))
        for n, size in enumerate(sizes)
    )


def renewed(rows: MemoryStore, number: int) -> None:
    row = rows.rows[lease(number).key]
    counter = str(int(row.attributes["leaseCounter"]["N"]) + 1)
    rows.plant(Image(row.key, {**row.attributes, "leaseCounter": {"N": counter}}))


def checkpointed(rows: MemoryStore, number: int) -> None:
    renewed(rows, number)
    row = rows.rows[lease(number).key]
    rows.plant(Image(row.key, {**row.attributes, "checkpoint": {"S": "77"}}))


SIZES = [(1,), (2,), (1, 1), (3,), (2, 1), (1, 2), (1, 1, 1)]


def run(sizes, path, todo):
    """The outcome of a live apply with things done before its calls, and the rows."""
    steps = steps_of(sizes)
    rows = MemoryStore([lease(n) for n in range(sum(sizes))])
    meeting = Meeting(rows, {
        at: partial(act, rows, number) for at, (act, number) in todo.items()
    })
    plan = Rows((), steps, "live")
    path.unlink(missing_ok=True)
    with Journal.create(path, replace(header(plan, rows), steps=steps)) as journal:
        try:
            apply(
                steps, meeting, journal, renewing=RENEWING,
                check=lambda found: rebase(steps, found, RENEWING),
            )
        except ReshardError as error:
            return error, rows, meeting
    return None, rows, meeting


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_renewals_between_any_two_calls_are_no_reason_to_stop(sizes, step, tmp_path) -> None:
    """Before-images in the journal are those of the write that landed."""
    path = tmp_path / "journal"
    numbers = range(sum(sizes))
    for first, second in itertools.combinations(range(len(sizes) * 2 + 1), 2):
        for one, two in itertools.islice(itertools.product(numbers, repeat=2), 0, None, step):
            error, rows, _ = run(
                sizes, path, {first: (renewed, one), second: (renewed, two)}
            )
            assert error is None
            for number in numbers:
                row = rows.rows[lease(number).key].attributes
                assert row["checkpoint"] == {"S": "TRIM_HORIZON"} and "leaseOwner" not in row
            assert read(path).fix.applied == set(range(len(sizes)))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_checkpoint_between_any_two_calls_is_never_overwritten(sizes, tmp_path) -> None:
    """The step of that row is not written, those before it are, and it is said which."""
    path = tmp_path / "journal"
    stops = 0
    for at, number in itertools.product(range(1, len(sizes) + 1), range(sum(sizes))):
        error, rows, meeting = run(sizes, path, {at: (checkpointed, number)})
        own = next(n for n in range(len(sizes)) if number < sum(sizes[: n + 1]))
        if own < at - 1:  # it was evicted before
            assert error is None
            continue
        stops += 1
        assert rows.rows[lease(number).key].attributes["checkpoint"] == {"S": "77"}
        assert meeting.written == own
        assert isinstance(error, HalfDone if own else StalePlan)
        assert error.exit is (Exit.HALF_DONE if own else Exit.REFUSED)
        assert "checkpoint has changed" in error.what
    assert stops


def test_a_row_that_is_renewed_each_time_is_given_up(tmp_path) -> None:
    """A bounded number of tries; nothing was written, and that is said."""
    todo = dict.fromkeys(range(40), (renewed, 0))
    error, _, meeting = run((1,), tmp_path / "journal", todo)
    assert isinstance(error, StalePlan) and "nothing was written" in error.what
    assert meeting.written == 0 and meeting.calls == 2 * 5, "docs/live.md: at most five times"
