"""Checkpoints of Spark queries, by the scenes and damages of tests/sim, which have their own way to
compare: a checkpoint is a tree of files, and what a hand made it forget is told apart there."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from reshardctl.errors import ReshardError
from tests.differential.trial import Verdict, Violation, _fast
from tests.reference.spark import LINEAGE
from tests.sim.spark_damage import FORGETTING, damage
from tests.sim.spark_scenes import scene
from tests.sim.test_spark import violations
from tests.sim.test_spark_marks import ALLOWED, astray, differences

KEEPS_ALL = 100
"""Batches that are kept, in scenes that purge none."""
UNSURE = (" again, ", "changes a start that delivers all")
"""What a plan may do where nothing tells what the sink had: read it again, to be sure."""
HEALTHY = 4
"""Every so-manieth checkpoint is left as the query left it."""


def examined(release: str) -> Callable[[int], tuple[str, Verdict]]:
    """What comes of a seed, in words, for one release of a connector."""

    def of(seed: int) -> tuple[str, Verdict]:
        with tempfile.TemporaryDirectory(dir=_fast()) as folder:
            one = scene(seed, Path(folder), release)
            how = "as it was left" if seed % HEALTHY == 0 else damage(one.root, seed)
            words = f"seed {seed}, {one.release}, {one.options}, {one.acts}: {how}"
            seen: Counter[str] = Counter()
            try:
                wrong = list(violations(one, Path(folder), seen))
            except ReshardError as refused:
                return f"{words}: {refused.what}", Verdict(type(refused).__name__)
            except Exception as error:
                return words, Verdict("error", [Violation("error", repr(error)[:600])])
            left = [w for w in wrong if not (how in FORGETTING and any(one in w for one in UNSURE))]
            (decided,) = seen or ["nothing"]
            return words, Verdict(decided, [Violation(_kind(w), w[:600]) for w in left], 2)

    return of


def by_the_source(seed: int) -> tuple[str, Verdict]:
    """Our own source with PySpark's calls but without Spark, on offsets that a hand was in; where
    that leaves nothing to change, on the checkpoint as the query left it."""
    with tempfile.TemporaryDirectory(dir=_fast()) as folder:
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
