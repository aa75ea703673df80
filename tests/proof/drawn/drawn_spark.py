"""Checkpoints of Spark queries, by the scenes and damages of tests/proof/exhaustive.

They have their own way to compare: a checkpoint is a tree of files, and what a hand made it forget
is told apart there.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from uuid import UUID

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import ReshardError
from reshardctl.execution.undo import undo_steps
from reshardctl.journal import Header, Journal, read
from reshardctl.model import Image, Step, after
from reshardctl.planning.plan import Plan
from reshardctl.planning.restore import Restore
from reshardctl.planning.writes import rebase
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.proof.drawn import real_spark
from tests.proof.drawn.trial import Verdict, Violation
from tests.proof.exhaustive.spark_damage import COPYING, DEADLY, FORGETTING, damage
from tests.proof.exhaustive.spark_places import HONEST, WAYS, misplace
from tests.proof.exhaustive.spark_scenes import Scene, scene, with_live
from tests.proof.exhaustive.test_spark import ACCEPTED, Start, starts, violations
from tests.proof.exhaustive.test_spark_marks import ALLOWED, astray, differences
from tests.proof.libraries.spark import by_hand
from tests.proof.reference.spark import LINEAGE, Run
from tests.proof.reference.spark_files import put
from tests.support.judging import Bench
from tests.support.own_folders import in_memory
from tests.support.plans import apply

KEEPS_ALL = 100
"""Batches that are kept, in scenes that purge none."""
CHANGES = "changes a start that delivers all"
UNSURE = (" again, ", CHANGES)
"""What a plan may do where nothing tells what the sink had: read it again, to be sure."""
HEALTHY = 4
"""Every so-manieth checkpoint is left as the query left it."""
FURTHER = 0.7
"""The chance of each further shard to be misplaced too."""


FICKLE = "skip "
"""A shard at LATEST begins at the tip of every batch anew: what comes between two may be lost."""
Draw = Callable[[int, Path, str], tuple[Scene, str]]
"""Seed, folder and release → the scene, and how it was damaged."""
QUBOLE = "qubole-1.2.0_spark-3.0"


def examined(
    release: str, draw: Draw | None = None
) -> Callable[[int, object], tuple[str, Verdict]]:
    """What comes of a seed, in words, for one release of a connector."""

    def of(seed: int, _judge: object) -> tuple[str, Verdict]:
        with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
            drawn = (draw or _damaged)(seed, Path(folder), release)
            return _verdict(*drawn, Path(folder), starts)

    return of


def by_qubole(
    seed: int, judge: real_spark.Start, draw: Draw | None = None
) -> tuple[str, Verdict]:
    """The real connector on real Spark. What it shows once and not again, when it was given more
    time, is the machine's doing."""
    draw = draw or _survivable
    words, verdict = _looked_at(seed, judge, draw, 0)
    if not verdict.violations:
        return words, verdict
    _, again = _looked_at(seed, judge, draw, 1)
    kinds = {violation.kind for violation in verdict.violations}
    again.violations = [each for each in again.violations if each.kind in kinds]
    again.starts += verdict.starts
    again.uncertain += verdict.uncertain + (not again.violations)
    return words, again


def misplaced_by_qubole(seed: int, judge: real_spark.Start) -> tuple[str, Verdict]:
    """The same, where a hand was in a place."""
    return by_qubole(seed, judge, _misplaced)


def _looked_at(
    seed: int, judge: real_spark.Start, draw: Draw, looks: int
) -> tuple[str, Verdict]:
    """One look at a seed with a real library; the folders of its starts do not outlive it."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        scene, how = draw(seed, Path(folder), QUBOLE)
        scene = scene if how.startswith(FICKLE) else with_live(scene)
        images, ran = scene.images(), Remembering(partial(judge, looks=looks))
        try:
            words, verdict = _verdict(scene, how, Path(folder), ran)
            verdict.violations += _written(scene, images, ran, Path(folder))
        except TimeoutError as late:
            words, verdict = f"seed {seed}: {late}", Verdict("late", uncertain=1)
        verdict.starts = len(ran.runs)
        return words, verdict


class Remembering:
    """Starts the query on the same files only once. Its runs are kept by the files."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self.runs: dict[str, Run] = {}

    def __call__(self, scene: Scene, files: list[Image], folder: Path) -> Run:
        key = repr(files)
        if key not in self.runs:
            self.runs[key] = self._start(scene, files, folder)
        return self.runs[key]


def _damaged(seed: int, folder: Path, release: str) -> tuple[Scene, str]:
    """The scene of a seed, and how it was damaged. Its query has an id of its own: one session does
    not run two queries of the same id at a time."""
    drawn = _named(seed, folder, release)
    return drawn, "as it was left" if seed % HEALTHY == 0 else damage(drawn.root, seed)


def _survivable(seed: int, folder: Path, release: str) -> tuple[Scene, str]:
    """The same, but for damages at which the session of all queries would die."""
    drawn = _named(seed, folder, release)
    return drawn, "as it was left" if seed % HEALTHY == 0 else damage(drawn.root, seed, DEADLY)


def _misplaced(seed: int, folder: Path, release: str) -> tuple[Scene, str]:
    """The scene of a seed with another place."""
    drawn = _named(seed, folder, release)
    return drawn, misplace(drawn, seed) or "as it was left"


def misplaced_often(seed: int, folder: Path, release: str) -> tuple[Scene, str]:
    """The scene of a seed with other places, in half of the scenes of more shards than one."""
    drawn = _named(seed, folder, release)
    return drawn, misplace(drawn, seed, FURTHER * (seed % 2)) or "as it was left"


def _named(seed: int, folder: Path, release: str) -> Scene:
    drawn = scene(seed, folder, release)
    put(drawn.root / "metadata", f'{{"id":"{UUID(int=seed, version=4)}"}}')
    return drawn


def _verdict(one: Scene, how: str, folder: Path, start: Start) -> tuple[str, Verdict]:
    """Forecast, plan and cost of a scene, held against what `start` does."""
    words = f"seed {one.seed}, {one.release}, {one.options}, {one.acts}: {how}"
    seen: Counter[str] = Counter()
    try:
        case = Bench.on(one.case, one.images(), one.locator).plan_case
        if case.consumer.empty(case.checkpoint()):
            return words, Verdict("EmptyCheckpoint")  # the tool gives no forecast of a new query
        wrong = list(violations(one, folder, seen, start))
    except ReshardError as refused:
        return f"{words}: {refused.what}", Verdict(type(refused).__name__)
    except TimeoutError:
        raise
    except Exception as error:
        return words, Verdict("error", [Violation("error", repr(error)[:600])])
    allowed = _allowed(how)
    left = [w for w in wrong if not any(word in w for word in allowed)]
    (decided,) = seen or ["nothing"]
    return words, Verdict(decided, [Violation(_kind(w), w[:600]) for w in left], 2)


def _allowed(how: str) -> tuple[str, ...]:
    """What may happen after a damage, for nothing tells what the sink had."""
    way = how.partition(" ")[0]
    if way in {each.__name__ for each in WAYS}:
        return ALLOWED if way in HONEST else (*ALLOWED, " owes ")
    if how in COPYING:
        return (CHANGES,)
    return UNSURE if how in FORGETTING else ()


def _written(
    scene: Scene, images: list[Image], start: Start, folder: Path
) -> Iterator[Violation]:
    """What `fix` leaves on the disk: as planned, no worse when it is killed between two steps, and
    undone to the byte."""
    try:
        decision = Bench.on(scene.case, images, scene.locator, accept=ACCEPTED).decide()
    except ReshardError:
        return
    if not isinstance(decision, Plan) or not decision.steps:
        return
    yield from half_way(scene, images, decision.steps, start, folder)
    yield from undone(scene, decision.steps, folder)


def half_way(
    scene: Scene, images: list[Image], steps: Sequence[Step], start: Start, folder: Path
) -> Iterator[Violation]:
    """A fix that was killed between two of its steps loses nothing unread that the start without it
    delivers, and nothing dies that did not before."""
    before = start(scene, images, folder / "before")
    for count in range(1, len(steps)):
        ran = start(scene, after(images, steps[:count]), folder / f"behind {count}")
        told = f"behind {count} of {len(steps)} steps"
        if ran.died is not None:
            if before.died is None:
                yield Violation("half way", f"{told} it dies: {ran.died[:300]}")
            continue
        for shard, owed in scene.owed().items():
            came = owed & set(before.delivered.get(shard, ()))
            if lost := came - set(ran.delivered.get(shard, ())):
                yield Violation("half way", f"{told} {shard} loses {sorted(lost)}")


def undone(scene: Scene, steps: Sequence[Step], folder: Path) -> Iterator[Violation]:
    """The steps, written into the directory by the tool's own hands, leave what is planned; undone
    they leave every file, byte for byte, as it was."""
    consumer = CONSUMERS["spark"].for_options(scene.locator)
    select, spec = consumer.files(), consumer.spec
    assert select is not None
    tree = Tree(Local(str(scene.root)), select)
    was, planned = by_hand.tree(scene.root), {i.key: i for i in after(scene.images(), steps)}
    header = Header("plan", "locator", dict(tree.identity()), {}, "lossless", "", "", tuple(steps))
    with Journal.create(folder / "journal", header) as journal:
        apply(
            steps,
            tree,
            journal,
            check=lambda rows: rebase(steps, rows, spec.volatile_attributes),
        )
    is_now = {image.key: image for image in scene.images()}
    for key in sorted(was.keys() | planned.keys() | is_now.keys()):
        if not key.endswith("/") and is_now.get(key) != planned.get(key):
            yield Violation("written", f"{key}: {is_now.get(key)}, planned {planned.get(key)}")
    rows = {image.key: image for image in tree.read()}
    restore = Restore.of(spec)
    back = undo_steps(read(folder / "journal"), rows, restore, spec.volatile_attributes)
    journal, _ = Journal.open(folder / "journal")
    with journal:
        journal.begin_undo(back)
        apply(
            back, tree, journal, check=lambda rows: rebase(back, rows, spec.volatile_attributes)
        )
        journal.undone()
    left = by_hand.tree(scene.root)
    for key in sorted(was.keys() | left.keys()):
        if was.get(key) != left.get(key):
            yield Violation("undo", f"{key}: {was.get(key)!r} came back as {left.get(key)!r}")


def by_the_source(seed: int, _judge: object) -> tuple[str, Verdict]:
    """Our own source with PySpark's calls but without Spark, on offsets that a hand was in; where
    that leaves nothing to change, on the checkpoint as the query left it."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        one = scene(seed, Path(folder), LINEAGE)
        how = astray(one, seed) if one.options.retain == KEEPS_ALL else ""
        words = f"seed {seed}, {one.options}, {one.acts}: {how or 'as it was left'}"
        seen: Counter[str] = Counter()
        try:
            wrong = [*violations(one, Path(folder), seen)]
            wrong += differences(one, one.images(), old=bool(seed % 2))
        except ReshardError as refused:
            return f"{words}: {refused.what}", Verdict(type(refused).__name__)
        forged = how.startswith(("admit", "close"))
        allowed = (*ALLOWED, " owes ") if forged else ALLOWED if how else ()
        left = [w for w in wrong if not any(word in w for word in allowed)]
        (decided,) = seen or ["nothing"]
        return words, Verdict(decided, [Violation(_kind(w), w[:600]) for w in left], 4)


def _kind(what: str) -> str:
    kinds = {"forecast": "forecast", "second plan": "next plan", "owes": "silent", "dies": "worse"}
    return next((kind for word, kind in kinds.items() if word in what), "cost")
