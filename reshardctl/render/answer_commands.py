"""The commands that answer a question, one for every possible answer."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.planning.plan import Ask
from reshardctl.report.report import Report, told


def answers(report: Report, ask: Ask, suggested_command: Sequence[str]) -> list[list[str]]:
    """The arguments with each answer in them: in the locator, or as `--recreated TIME`."""
    if ask.options == ("recreated",):
        return [[*suggested_command, "--recreated", answer[0][1]] for answer in ask.answers]
    text = report.snapshot.locator.text
    return [
        [told(text, answer) if word == text else word for word in suggested_command]
        for answer in ask.answers
    ]
