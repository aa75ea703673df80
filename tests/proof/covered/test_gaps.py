"""The gate ends with 1 for a gap without an excuse, and for an excuse without a gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proof.covered.gaps import Gap, Room, excuses, judge, possible

SOURCE = """\
def sign(number):
    if number < 0:
        return "minus"
    match number:
        case 0:
            return ""
        case _:
            return "plus"
"""
MINUS = Gap("reshardctl/model/signs.py", 3, 0, 'return "minus"')


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "reshardctl" / "model").mkdir(parents=True)
    (tmp_path / MINUS.file).write_text(SOURCE)
    return tmp_path


def judged(root: Path, *gaps: Gap, excused: str = "") -> int:
    (root / "excused.toml").write_text(excused)
    room = Room("model", 6, 4, gaps)
    return judge([room], [*excuses(root / "excused.toml", ["model"])], root)


def excuse(lines: str, file: str = MINUS.file, why: str = "No shard has one.") -> str:
    return f"[[excused]]\nfile = '{file}'\nlines = '''\n{lines}\n'''\nwhy = '{why}'\n"


def test_what_every_line_and_branch_of_is_run_passes(root, capsys):
    assert judged(root) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["model", "6", "4", "0", "0"]


def test_a_line_that_no_test_runs_fails_and_is_named(root, capsys):
    assert judged(root, MINUS) == 1
    assert f'{MINUS.file}:3 is run by no test: return "minus"' in capsys.readouterr().out


def test_a_branch_that_no_test_takes_fails_and_is_named(root, capsys):
    assert judged(root, Gap(MINUS.file, 2, 4, "if number < 0:")) == 1
    assert f"{MINUS.file}:2 goes on to line 4 in no test: if" in capsys.readouterr().out


@pytest.mark.parametrize("lines", ['return "minus"', 'if number < 0:\n  return "minus"'])
def test_an_excused_line_passes_and_is_counted(root, lines, capsys):
    assert judged(root, MINUS, excused=excuse(lines)) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["model", "6", "4", "1", "0"]


def test_an_excuse_holds_where_its_lines_have_moved(root):
    (root / MINUS.file).write_text(f"'''Signs.'''\n\n{SOURCE}")
    moved = Gap(MINUS.file, 5, 0, MINUS.text)
    assert judged(root, moved, excused=excuse('return "minus"')) == 0


@pytest.mark.parametrize(
    ("gaps", "lines"),
    [((), 'return "minus"'), ((MINUS,), 'return "plus"'), ((MINUS,), 'return "negative"')],
    ids=["tests run them now", "lines that tests run", "lines that are gone"],
)
def test_an_excuse_that_is_not_needed_fails_and_is_named(root, gaps, lines, capsys):
    assert judged(root, *gaps, excused=excuse(lines)) == 1
    assert f"an excuse is not needed, or its lines are gone: {lines}" in capsys.readouterr().out


@pytest.mark.parametrize(("room", "left_alone"), [
    ("stores", False), ("stores/sql", True), ("store", True), ("stores/redis.py", False),
])  # fmt: skip
def test_an_excuse_for_what_was_not_measured_is_left_alone(root, room, left_alone):
    """A package of a room may be measured by itself."""
    (root / "excused.toml").write_text(excuse("x = 1", file="reshardctl/stores/redis.py"))
    assert ([*excuses(root / "excused.toml", [room])] == []) is left_alone


@pytest.mark.parametrize("entry", [excuse(""), excuse('return "minus"', why=" ")])
def test_an_excuse_without_lines_or_reason_is_refused(root, entry):
    with pytest.raises(ValueError, match="has no lines or no reason"):
        judged(root, MINUS, excused=entry)


def test_a_match_is_never_left_by_none_of_its_cases():
    assert not possible(Gap("signs.py", 7, -1), SOURCE), "mypy proves that the last one matches"
    assert possible(Gap("signs.py", 7, 8), SOURCE)
    assert possible(Gap("signs.py", 5, 7), SOURCE)
    assert possible(Gap("signs.py", 8), SOURCE)
