"""Whole views, letter by letter: what an operator sees, at the widths at which it is seen.

Every line of the files was read when it was made: what, what it costs, by when, which command.
After a deliberate change of wording, change them by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context, report_of

GOLDEN = Path(__file__).parent / "golden"

VIEWS = {
    "a-both.inspect.100": ("a-both", "initial=LATEST&release=3.5.1", "lossless", {}),
    "a-both.inspect.80": ("a-both", "initial=LATEST&release=3.5.1", "lossless", {}),
    "a-both.inspect.80.ascii": (
        "a-both", "initial=LATEST&release=3.5.1", "lossless", {"ascii": True}
    ),
    "a-both.inspect.80.color": (
        "a-both", "initial=LATEST&release=3.5.1", "lossless", {"color": True}
    ),
    "a-both.plan.80": ("a-both", "initial=LATEST&release=3.5.1", "lossless", {}),
    "a-both-skip.plan.100": (
        "a-both-skip", "initial=LATEST&release=2.7.2", "latest-at-start", {}
    ),
    "h-long.inspect.80": ("h-long", "initial=LATEST&release=2.7.2", "lossless", {}),
    "h-long.plan.80": ("h-long", "initial=LATEST&release=2.7.2", "lossless", {}),
    "foreign-rows.inspect.80": (
        "foreign-rows", "initial=TRIM_HORIZON&release=2.7.2", "lossless", {}
    ),
    "foreign-rows.plan.100.ascii": (
        "foreign-rows", "initial=TRIM_HORIZON&release=2.7.2", "lossless", {"ascii": True}
    ),
    "healthy-split-cleaned.inspect.80": (
        "healthy-split-cleaned", "initial=LATEST&release=2.7.2", "lossless", {}
    ),
    "healthy-split-cleaned.plan.80": (
        "healthy-split-cleaned", "initial=LATEST&release=2.7.2", "lossless", {}
    ),
    "d2.inspect.100": ("d2", "release=2.7.2", "lossless", {}),
    "d2.plan.80": ("d2", "release=2.7.2", "lossless", {}),
    "full-trimmed-parent-timestamp.plan.80": (
        "full-trimmed-parent-timestamp", "initial=LATEST", "lossless", {}
    ),
    "i2.inspect.60": ("i2", "initial=LATEST&release=2.7.2", "lossless", {}),
}


@pytest.mark.parametrize("name", VIEWS)
def test_transcript(name):
    case, options, policy, wanted = VIEWS[name]
    view, width = name.split(".")[1:3]
    report = report_of(case, options, policy)
    shown = getattr(FORMATS["text"], view)(report, context(report, width=int(width), **wanted))
    file = GOLDEN / f"{name}.txt"
    assert shown == file.read_text(encoding="utf-8"), (
        f"if the change is meant, correct {file.name} by hand, line by line"
    )


def test_every_golden_file_is_compared():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(VIEWS)
