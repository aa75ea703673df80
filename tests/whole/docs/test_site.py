"""The site has every page once; generated pages are what their scripts write."""

from __future__ import annotations

import re
import sys
from collections import Counter

import pytest

from scripts.pages import NAMES, commands, evidence, python, rules, written
from tests.whole.docs.pages import ROOT

SETTINGS = (ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
NAVIGATION = SETTINGS.partition("\nnav:")[2]
NAMED = re.findall(r"(?:: |- )([\w.-]+\.md)$", NAVIGATION, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_the_one_that_its_script_writes(name):
    for path, text in written(name).items():
        wrong = f"{path.name} is out of date: python -m scripts.pages {name}"
        assert path.read_text(encoding="utf-8") == text, wrong


def test_every_module_of_pages_is_run():
    """But for the one that only counts."""
    there = {path.stem for path in (ROOT / "scripts" / "pages").glob("*.py")}
    assert there - {"__init__", "__main__", "evidence_counts"} == set(NAMES)


def test_the_navigation_names_pages_that_are_there_and_each_once():
    """One that it does not name is under "More"; scripts/docs fails for one that is not there."""
    assert [name for name, count in Counter(NAMED).items() if count > 1] == []
    folders = (ROOT / "docs", ROOT)
    assert [name for name in NAMED if not any((f / name).is_file() for f in folders)] == []
    assert len(NAMED) > 30


def test_every_system_has_a_page_in_the_navigation():
    from reshardctl.consumers.registry import CONSUMERS

    assert {f"{name}.md" for name in CONSUMERS} <= set(NAMED)


def test_the_commands_page_has_every_command_and_option():
    page = commands.PAGE.read_text(encoding="utf-8")
    for name, command in commands.commands():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        options = {word for parameter in shown for word in parameter.opts}
        missing = {word for word in options if word.startswith("--") and word not in section}
        assert section and not missing, (name, missing)


def test_the_rules_page_has_every_rule():
    from reshardctl.diagnosis.rules import RULES

    headings = re.findall(r"^## (RSH\d+) (\S+)$", rules.PAGE.read_text("utf-8"), re.MULTILINE)
    assert headings == [(rule.code, rule.name) for rule in RULES]


def test_the_evidence_page_says_of_every_release_whether_it_was_executed():
    """Each with cases is started by a test or is named with what was executed of it, never both."""
    named = evidence.not_started()
    for library in evidence.FOLDERS:
        rows = evidence.rows(library)
        started = {release for release, row in rows.items() if row.starts["observed"]}
        assert set(rows) - started == set(named.get(library, {})), library


def test_the_totals_of_the_evidence_page_are_sums():
    """Of the lists of starts, counted without the script."""
    real = ROOT / "tests/proof/libraries"
    lists = [real / name / "executed.txt" for name in ("kcl", "go", "spark")]
    lines = [line for path in lists for line in path.read_text("utf-8").splitlines()]
    wrong = sum(line.endswith("/robbed") for line in lines)
    page = evidence.PAGE.read_text(encoding="utf-8")
    total = next(line for line in page.splitlines() if line.startswith("| **total**"))
    figures = [int(cell.replace(",", "")) for cell in re.findall(r"[\d,]+", total)]
    assert sum(figures[3:]) == len(lines) - wrong > 1_500


def test_totals_of_differential_runs_are_whole():
    """Every violation has its cause; no key is unknown."""
    for run in evidence.runs():
        assert set(run) <= {"family", "seeds", "states", "violations", "held_back", "cause"}, run
        assert bool(run["violations"]) == ("cause" in run), run


def test_the_python_page_has_every_name_and_every_field():
    from dataclasses import fields, is_dataclass

    import reshardctl

    public = sys.modules["reshardctl"].__all__
    page = python.PAGE.read_text(encoding="utf-8")
    shown = page.partition("\n## Python API\n")[2]
    sections = dict(part.split("\n", 1) for part in shown.split("\n### ")[1:])
    assert set(sections) == {name for name in public if name[0] != "_"}
    for name, section in sections.items():
        value = getattr(reshardctl, name)
        if is_dataclass(value):
            missing = {f.name for f in fields(value) if f"- `{f.name}: " not in section}
            assert not missing - {f.name for f in fields(value) if f.name[0] == "_"}, name
