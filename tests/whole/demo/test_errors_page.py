"""docs/exit-codes.md is made of reshardctl/errors.py, whose ids stay for good."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reshardctl
from scripts.pages.errors import kinds

EVERY_ID_EVER = {
    "E130": "Cancelled",
    "E200": "UsageError",
    "E201": "WrongStream",
    "E202": "NoStore",
    "E203": "NoJournal",
    "E204": "NotLoaded",
    "E300": "ReshardError",
    "E301": "CannotTell",
    "E302": "StreamUnsettled",
    "E600": "EmptyCheckpoint",
    "E304": "AnswerLost",
    "E305": "TimedOut",
    "E306": "Denied",
    "E307": "DataLoss",
    "E308": "ShardGone",
    "E309": "Overtaken",
    "E310": "Unmet",
    "E400": "Refused",
    "E401": "ConsumerRunning",
    "E402": "StalePlan",
    "E403": "NotConfirmed",
    "E404": "UndoRefused",
    "E500": "HalfDone",
}
"""Id → today's name of the class. A line is added for a new error; the ids of old ones stay."""

KINDS = [kind for _, kind in kinds()]


def test_every_id_is_there_once_and_for_good():
    assert len({kind.id for kind in KINDS}) == len(KINDS)
    assert {kind.id: kind.__name__ for kind in KINDS} == EVERY_ID_EVER


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.id)
def test_an_error_has_an_id_of_its_own_that_begins_with_its_exit_code(kind):
    assert "id" in vars(kind)
    assert kind.id.startswith(f"E{kind.exit:d}"[:4]) and len(kind.id) == 4


def test_the_page_has_every_error_of_the_package():
    """The page would lack one of a module that ELSEWHERE does not name."""
    package = Path(reshardctl.__file__).parent
    names = {kind.__name__ for kind in KINDS}
    defined = {
        (".".join(path.relative_to(package.parent).with_suffix("").parts), node.name)
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and {base.id for base in node.bases if isinstance(base, ast.Name)} & names
    }
    shown = {(kind.__module__, kind.__name__) for kind in KINDS}
    assert defined <= shown, "name the module in ELSEWHERE of scripts/pages/errors.py"
