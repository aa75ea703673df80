"""The site has every page once; generated pages are what their scripts write."""

from __future__ import annotations

import re
import sys
from collections import Counter

import pytest

from scripts.pages import NAMES, architecture, commands, evidence, python, rules, written
from tests.whole.docs.pages import ROOT
from tests.whole.test_architecture import PURE

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


def test_the_picture_of_the_rooms_has_each_and_shows_the_pure_ones():
    drawn = architecture.PAGE.read_text(encoding="utf-8")
    assert all(f">{room}</text>" in drawn for row in architecture.layers() for room in row)
    assert architecture.PURE == PURE, "those that are checked"


def test_the_navigation_names_pages_that_are_there_and_each_once():
    """One that it does not name is under "More"; scripts/docs fails for one that is not there."""
    assert [name for name, count in Counter(NAMED).items() if count > 1] == []
    folders = (ROOT / "docs", ROOT)
    assert [name for name in NAMED if not any((f / name).is_file() for f in folders)] == []
    assert len(NAMED) > 30


def test_every_system_has_a_page_in_the_navigation():
    from reshardctl.consumers.registry import CONSUMERS

    assert {f"{name}.md" for name in CONSUMERS} <= set(NAMED)


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SHARED = re.compile(r"^\| (.+) \| \[[^\]]+\]\(#(\w+)-options\) \|$")


def rows_of(page: str, heading: str) -> list[str]:
    """The rows of the tables between a heading and the next one."""
    (section,) = re.findall(rf"^{heading}\n(.*?)(?=^#|\Z)", page, re.M | re.S)
    return [line for line in section.splitlines() if line.startswith("| ")]


def options_of(page: str, name: str) -> set[str]:
    """The options that the page lists in a command's section, and in groups that it links to."""
    found = set()
    for row in rows_of(page, f"## {name}"):
        if shared := SHARED.match(row):
            group = {
                option for each in rows_of(page, f"### (?i:{shared[2]}) options")
                for option in OPTION.findall(each.split(" | ")[0])
            }
            named = group if shared[1] == "all" else set(OPTION.findall(shared[1]))
            assert named <= group, (name, row)
            found |= named
        else:
            found |= set(OPTION.findall(row.split(" | ")[0]))
    return found


def test_the_commands_page_has_every_command_and_option():
    page = commands.PAGE.read_text(encoding="utf-8")
    for name, command in commands.commands():
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        options = {word for each in shown for word in each.opts if word.startswith("--")}
        others = {word for each in shown for word in each.secondary_opts}
        listed = options_of(page, name)
        assert listed - others == options, (name, listed ^ options)


def test_an_option_that_the_commands_page_lacks_is_noticed():
    page = commands.PAGE.read_text(encoding="utf-8")
    assert {"--region", "--count", "--dry-run"} <= options_of(page, "fix")
    for line in ("| `--region <str>` | AWS region. |\n", "| all | [AWS options](#aws-options) |\n"):
        assert page.count(line) and "--region" not in options_of(page.replace(line, ""), "fix")


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
    assert sum(figures[1:]) == len(lines) - wrong > 1_500


def test_totals_of_differential_runs_are_whole():
    """Every violation has its cause; no key is unknown."""
    for run in evidence.runs():
        assert set(run) <= {
            "family", "seeds", "states", "violations", "held_back", "cause", "in_harness",
        }, run
        assert bool(run["violations"]) == ("cause" in run), run


def test_the_python_page_has_every_name_and_every_field():
    from dataclasses import fields, is_dataclass

    import reshardctl

    public = sys.modules["reshardctl"].__all__
    page = python.PAGE.read_text(encoding="utf-8")
    shown = page.partition("\n## Python API\n")[2]
    sections = dict(part.split("\n", 1) for part in shown.split("\n### ")[1:])
    common = {kind.__name__ for kind in python.COMMON}
    assert set(sections) == common | {name for name in public if name[0] != "_"}
    for name in set(sections) - common:
        value, section = getattr(reshardctl, name), sections[name]
        while base := re.search(r"^All that \[`(\w+)`\]\(#\w+\) has, and:\n", section, re.M):
            section = section.replace(base[0], sections[base[1]])
        names = getattr(value, "__struct_fields__", ())
        names += tuple(f.name for f in fields(value)) if is_dataclass(value) else ()
        missing = {field for field in names if f"- `{field}: " not in section}
        assert not {field for field in missing if field[0] != "_"}, name
