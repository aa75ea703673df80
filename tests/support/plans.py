"""Lease rows and plans over them, for the tests of the journal, of apply and of crashes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reshardctl.errors import AnswerLost
from reshardctl.execution import apply as writing
from reshardctl.execution.apply import Applied
from reshardctl.journal import Header, Journal, Records
from reshardctl.model import Attributes, Create, Delete, Image, Step, Update, Write, canonical
from reshardctl.model.write_state import WriteResult
from reshardctl.planning.restore import Restore
from reshardctl.planning.writes import rebase
from reshardctl.stores.base import Store
from tests.contracts.memory_store import MemoryStore

# What a KCL consumer changes by itself: every renewal, every take (KCL 3.5.1
# DynamoDBLeaseSerializer), and what its statistics write.
MOVING = frozenset(
    {"leaseCounter", "leaseOwner", "ownerSwitchesSinceCheckpoint", "throughputKBps"}
)
COUNTERS = frozenset({"leaseCounter"})
OWNERS = frozenset({"leaseOwner", "checkpointOwner"})
RESTORE = Restore(MOVING, COUNTERS, OWNERS)

FIRST = "49680412033094866848527506851837432377108706273800486914"


def lease(number: int, **attributes: dict[str, object]) -> Image:
    """A row as KCL 3.1.3 writes it, with an attribute that nobody knows and one of bytes."""
    base: dict[str, dict[str, object]] = {
        "leaseKey": {"S": f"shardId-{number:012}"},
        "checkpoint": {"S": FIRST},
        "checkpointSubSequenceNumber": {"N": "3"},
        "leaseCounter": {"N": "15"},
        "leaseOwner": {"S": "w1"},
        "ownerSwitchesSinceCheckpoint": {"N": "2"},
        "pendingCheckpoint": {"S": "TRIM_HORIZON"},
        "pendingCheckpointState": {"B": "c3Qx"},
        "throughputKBps": {"N": "0.000023"},
        "ours": {"M": {"unknown": {"SS": ["a", "b"]}}},
    }
    return Image(f"shardId-{number:012}", canonical(base | attributes))


def ended(image: Image) -> Write:
    """A row put to its end as an eviction does."""
    change = Update(
        set={
            "checkpoint": {"S": "SHARD_END"},
            "checkpointSubSequenceNumber": {"N": "0"},
            "ownerSwitchesSinceCheckpoint": {"N": "0"},
            "childShardIds": {"SS": ["shardId-000000000101", "shardId-000000000102"]},
        },
        remove=("leaseOwner", "pendingCheckpoint", "pendingCheckpointState"),
        add={"leaseCounter": 1},
    )
    return Write(image.key, change, image, "its children stand", ("checkpoint", "childShardIds"))


def born(number: int) -> Write:
    """A child's row that the fix creates."""
    key = f"shardId-{number:012}"
    row: Attributes = {
        "leaseKey": {"S": key},
        "checkpoint": {"S": "TRIM_HORIZON"},
        "checkpointSubSequenceNumber": {"N": "0"},
        "leaseCounter": {"N": "0"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "parentShardId": {"SS": ["shardId-000000000000"]},
    }
    return Write(key, Create(row), None, "nothing will ever create it")


def gone(image: Image) -> Write:
    """A row that the fix deletes."""
    return Write(image.key, Delete(), image, "of another stream", tuple(image.attributes))


def write_of(number: int) -> Write:
    """The n-th write of a plan: updates, creations and deletions in turn."""
    kinds = (lambda: ended(lease(number)), lambda: born(number), lambda: gone(lease(number)))
    return kinds[number % 3]()


def cuts(total: int) -> Iterator[list[int]]:
    """Every way to put `total` writes, in order, into steps: the sizes of the steps."""
    if not total:
        yield []
    for first in range(1, total + 1):
        for rest in cuts(total - first):
            yield [first, *rest]


@dataclass(frozen=True)
class Plan:
    """Steps, the rows before them and, worked out here and not by the code under test, after."""

    rows: tuple[Image, ...]
    steps: tuple[Step, ...]
    name: str

    def after(self, count: int | None = None) -> list[Image]:
        """The rows after so many steps."""
        rows = {image.key: dict(image.attributes) for image in self.rows}
        for step in self.steps[:count]:
            for write in step.writes:
                _play(rows, write)
        return [Image(key, canonical(rows[key])) for key in sorted(rows)]


def _play(rows: dict[str, dict[str, Mapping[str, Any]]], write: Write) -> None:
    match write.change:
        case Create(attributes):
            assert write.key not in rows
            rows[write.key] = dict(attributes)
        case Delete():
            del rows[write.key]
        case Update(values, remove, add):
            row = rows[write.key]
            row.update(values)
            for name in remove:
                row.pop(name, None)
            for name, by in (add or {}).items():
                row[name] = {"N": str(int(row.get(name, {"N": "0"})["N"]) + by)}


def plan_of(sizes: Sequence[int]) -> Plan:
    """A plan whose steps have these sizes, beside rows that it leaves alone."""
    total = sum(sizes)
    rows = [lease(n) for n in range(total) if n % 3 != 1] + [lease(90), lease(91)]
    numbers = iter(range(total))
    steps = tuple(
        Step(f"step {n}", tuple(write_of(next(numbers)) for _ in range(size)))
        for n, size in enumerate(sizes)
    )
    return Plan(tuple(rows), steps, "+".join(map(str, sizes)))


def twice() -> Plan:
    """A plan that writes one row in two steps, and makes a row and moves it on."""
    first = lease(0)
    linked = Write(
        first.key, Update({"childShardIds": {"SS": ["shardId-000000000101"]}}), first, "link",
        ("checkpoint", "childShardIds"),
    )
    rows = {first.key: dict(first.attributes)}
    _play(rows, linked)
    second = Image(first.key, canonical(rows[first.key]))
    child = born(1)
    made = Image(child.key, canonical(child.change.attributes))
    moved = Write(
        child.key, Update({"checkpoint": {"S": FIRST}}, (), {"leaseCounter": 1}), made, "on",
        ("checkpoint",),
    )
    steps = (Step("one", (linked, child)), Step("two", (ended(second),)), Step("three", (moved,)))
    return Plan((first, lease(90)), steps, "twice")


def header(plan: Plan, medium: Store) -> Header:
    """A journal's header for a plan."""
    return Header(
        plan="1f" * 32,
        locator="kcl://orders-etl?initial=LATEST",
        identity=medium.identity(),
        stream={"arn": "arn:aws:kinesis:us-east-1:123456789012:stream/orders", "created": "1"},
        policy="lossless",
        who="ops@host",
        when="2026-11-21T17:00:00Z",
        steps=plan.steps,
        notes={"assume-stopped": "yes"},
    )


def journal_of(plan: Plan, medium: Store, path: Path) -> Journal:
    return Journal.create(path, header(plan, medium))


Check = Callable[[list[Image]], list[Step]]
"""Fresh rows → the same steps with fresh before-images, or StalePlan."""
CheckRest = Callable[[writing.Rest], None]
"""What is left of a fix → StalePlan, or nothing."""


def apply(
    steps: Sequence[Step], medium: Store, journal: Journal, *, check: Check, **options: Any
) -> Applied:
    """Read, prove, write, as a use case does."""
    fresh = check(writing.fresh_rows(medium))
    return writing.apply(steps, fresh, medium, journal, **options)


def resume(
    journal: Journal,
    records: Records,
    medium: Store,
    *,
    check: CheckRest = lambda _: None,
    volatile_attributes: frozenset[str] = frozenset(),
    renewing: frozenset[str] = frozenset(),
    **options: Any,
) -> Applied:
    """Read, prove what is left, write it, as a use case does."""
    rest = writing.rest_of(
        records, medium, volatile_attributes=volatile_attributes, renewing=renewing
    )
    check(rest)
    return writing.resume(rest, medium, journal, renewing=renewing, **options)


def checked(plan: Plan) -> Check:
    """A check that only puts the plan over fresh rows, as a caller's proof ends by doing."""

    return lambda rows: rebase(plan.steps, rows, MOVING)


class Killed(BaseException):
    """The process is gone: nothing that would run after it runs."""


class Crashing:
    """A medium at whose n-th write something happens: killed before it or after it, its answer
    lost before it landed or after."""

    max_writes = 100

    def __init__(self, medium: MemoryStore, at: int, mode: str) -> None:
        self._medium = medium
        self._left = at
        self._mode = mode
        self.identity, self.read, self.get = medium.identity, medium.read, medium.get

    def write(self, step: Step, token: str) -> WriteResult:
        self._left -= 1
        here = self._left == -1
        if here and self._mode == "killed before":
            raise Killed
        if here and self._mode == "never sent":
            raise AnswerLost("the answer was lost")
        result = self._medium.write(step, token)
        if here and self._mode == "killed after":
            raise Killed
        if here and self._mode == "answer lost":
            raise AnswerLost("the answer was lost")
        return result


MODES = ("killed before", "killed after", "never sent", "answer lost")


def settled(images: Sequence[Image]) -> list[Image]:
    """Rows without what an undo does not give back: counters and owners."""
    return [
        Image(i.key, {n: v for n, v in i.attributes.items() if n not in COUNTERS | OWNERS})
        for i in images
    ]


def counters(images: Sequence[Image]) -> dict[str, int]:
    return {i.key: int(i.attributes["leaseCounter"]["N"]) for i in images}
