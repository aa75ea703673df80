"""KCL's lease rows: `[[rows]]`, `[[foreign]]`, `[multi]`, `[[side]]`.

`tests/support/case.py` describes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reshardctl.model import Delete, Image, Step, Update, canonical
from tests.support.case import Case
from tests.support.case_tables import SIDE_KEYS

KEYS: frozenset[str] = frozenset()
START = "initial"


def check(state: Mapping[str, Any], topology: Mapping[int, Any]) -> None:
    """Nothing beside the tables that `tests/support/case.py` reads itself."""


def images(case: Case) -> list[Image]:
    """The lease table and the side tables."""
    return [*images_of(case.items()), *side_images(case)]


def repaired(case: Case, writes: Mapping[int, str]) -> list[Image]:
    """By KCL's own create and evict updates, see `tests/support/case_rows.py`."""
    return [*images_of(case.with_writes(writes)), *side_images(case)]


def images_of(items: list[dict[str, Any]]) -> list[Image]:
    """Lease rows by their keys."""
    rows = [Image(item["leaseKey"]["S"], canonical(item)) for item in items]
    return sorted(rows, key=lambda image: image.key)


def side_images(case: Case) -> list[Image]:
    """Rows of the side tables of an application called app, as the medium reads them along."""
    return [
        Image(f"app-{table}/{item[SIDE_KEYS[table]]['S']}", canonical(item))
        for table, items in sorted(case.side.items()) for item in items
    ]


def spelled(_case: Case, steps: Iterable[Step]) -> dict[int, str]:
    """Checkpoints of rows that are created or moved."""
    return {
        int(w.key[-12:]): _position(w) for step in steps for w in step.writes
    }


def _position(write: Any) -> str:
    change = write.change
    if isinstance(change, Delete):
        return "delete"
    values = change.set if isinstance(change, Update) else change.attributes
    before = write.before.attributes.get("checkpoint") if write.before else None
    moved = "checkpoint" in values and values["checkpoint"] != before
    return str(values["checkpoint"]["S"]) if moved else "same"
