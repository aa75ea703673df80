"""The one table that a run of benchmarks ends with: each figure beside its rival and its target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a run.

    Attributes:
        what: What was measured.
        rival: What it is compared with, in the same run; "" for a figure with a target of its own.
        ours: The figure, in `unit`.
        theirs: The rival's, `None` where there is none.
        target: The most that the ratio may be, or the figure where there is no rival;
            `None` where none was set.
    """

    what: str
    rival: str
    ours: float
    theirs: float | None
    unit: str
    target: float | None

    @property
    def ratio(self) -> float | None:
        """Ours by the rival's."""
        return None if self.theirs is None else self.ours / max(self.theirs, 1e-9)

    @property
    def met(self) -> bool | None:
        """Whether the target is met, `None` where there is none."""
        if self.target is None:
            return None
        return (self.ours if self.ratio is None else self.ratio) <= self.target


FIGURES: list[Figure] = []
"""Those of this run, in the order in which they were measured."""


def record(
    what: str, ours: float, unit: str, target: float | None, *, rival: str = "",
    theirs: float | None = None,
) -> None:
    """Keeps a figure for the table."""
    FIGURES.append(Figure(what, rival, ours, theirs, unit, target))


def table(figures: list[Figure]) -> str:
    """The figures as a table in Markdown."""
    rows = ["| figure | ours | rival, in the same run | rival's | ratio | target | met |",
            "|---|---:|---|---:|---:|---:|---|"]  # fmt: skip
    for one in figures:
        theirs = "" if one.theirs is None else f"{_said(one.theirs)} {one.unit}"
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        unit = "" if one.ratio is not None else f" {one.unit}"
        target = "" if one.target is None else f"≤ {one.target:g}{unit}"
        cells = (one.what, f"{_said(one.ours)} {one.unit}", one.rival, theirs, ratio, target,
                 {True: "yes", False: "no", None: ""}[one.met])  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _said(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.2f}"
