"""The commands that answer a question, one for every possible answer."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.plan import Ask
from reshardctl.report import Report


def answers(report: Report, ask: Ask, again: Sequence[str]) -> list[list[str]]:
    """The arguments with each answer in them: in the locator, or as `--recreated TIME`."""
    if ask.option == "recreated":
        return [[*again, "--recreated", value] for value in ask.values]
    text = report.snapshot.locator.text
    joint = "&" if "?" in text else "?"
    return [
        [f"{text}{joint}{ask.option}={value}" if word == text else word for word in again]
        for value in ask.values
    ]
