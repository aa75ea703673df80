"""The exit codes: one table, and every place that speaks of them says the same."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from reshardctl import errors
from reshardctl.cli.app import EPILOG
from reshardctl.console.failures import guarded
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit, worst

TABLE = {
    "OK": 0, "FINDINGS": 1, "USAGE": 2, "UNKNOWN": 3, "REFUSED": 4, "HALF_DONE": 5,
    "NOTHING_FOUND": 6, "CANCELLED": 130,
}  # fmt: skip
BY_ERROR = {
    "ReshardError": 3, "UsageError": 2, "WrongStream": 2, "NoStore": 2, "NoJournal": 2,
    "NotLoaded": 2,
    "CannotTell": 3,
    "StreamUnsettled": 3, "EmptyCheckpoint": 6, "TimedOut": 3, "Refused": 4,
    "ConsumerRunning": 4, "StalePlan": 4, "NotConfirmed": 4, "UndoRefused": 4,
    "HalfDone": 5, "AnswerLost": 3, "Cancelled": 130,
}  # fmt: skip
ORDER = (5, 3, 4, 2, 6, 1, 0)
"""Precedence when several apply."""


def every_error() -> list[type[ReshardError]]:
    named = vars(errors).values()
    return [e for e in named if isinstance(e, type) and issubclass(e, ReshardError)]


def test_the_codes():
    assert {code.name: code.value for code in Exit} == TABLE


def test_every_error_has_its_code():
    assert {error.__name__: int(error.exit) for error in every_error()} == BY_ERROR


def test_the_page_of_errors_says_the_same():
    page = Path(__file__).parents[2] / "docs" / "exit-codes.md"
    drawn = re.findall(r"`(\w+)` \| (\d+) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert BY_ERROR.items() <= {name: int(code) for name, code in drawn}.items()


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(ORDER, 2)))
def test_precedence(one, other):
    assert worst(Exit(one), Exit(other)) == min(one, other, key=ORDER.index)


def test_help_names_every_code():
    named = {int(number) for number in re.findall(r"\b(\d+) [a-z]", EPILOG)}
    assert named == set(TABLE.values())


@pytest.mark.parametrize("error", every_error(), ids=lambda e: e.__name__)
def test_a_failure_is_one_message_and_its_code(error, capsys):
    def fail() -> None:
        raise error("what \x1b[31mhappened", "do this")

    assert guarded(fail) == BY_ERROR[error.__name__]
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[1] == "  do this" and "\\x1b[31mhappened" in err


@pytest.mark.parametrize(("raised", "code"), [(KeyboardInterrupt(), 130), (ZeroDivisionError(), 3)])
def test_what_is_not_ours(raised, code, capsys):
    def fail() -> None:
        raise raised

    assert guarded(fail) == code
    assert "Traceback" not in capsys.readouterr().err
