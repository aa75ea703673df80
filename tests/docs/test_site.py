"""The site has every page once; generated pages are what their scripts write."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from scripts import commands_page, rules_page
from tests.docs.pages import ROOT

NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
NAMED = re.findall(r"(?:: |- )([\w.-]+\.md)$", NAVIGATION, re.MULTILINE)


@pytest.mark.parametrize("script", [commands_page, rules_page], ids=lambda s: s.__name__)
def test_a_page_is_the_one_that_its_script_writes(script):
    written = script.PAGE.read_text(encoding="utf-8")
    assert written == script.page(), f"run: python {script.__name__.replace('.', '/')}.py"


def test_the_navigation_names_pages_that_are_there_and_each_once():
    """One that it does not name is under "More"; scripts/docs fails for one that is not there."""
    assert [name for name, count in Counter(NAMED).items() if count > 1] == []
    folders = (ROOT / "docs", ROOT)
    assert [name for name in NAMED if not any((f / name).is_file() for f in folders)] == []
    assert len(NAMED) > 40


def test_every_system_has_a_page_in_the_navigation():
    from reshardctl.consumers.registry import CONSUMERS

    assert {f"{name}.md" for name in CONSUMERS} <= set(NAMED)


def test_the_commands_page_has_every_command_and_option():
    page = commands_page.PAGE.read_text(encoding="utf-8")
    for name, command in commands_page.commands():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        options = {word for parameter in shown for word in parameter.opts}
        missing = {word for word in options if word.startswith("--") and word not in section}
        assert section and not missing, (name, missing)


def test_the_rules_page_has_every_rule():
    from reshardctl.diagnosis.rules import RULES

    headings = re.findall(r"^## (RSH\d+) (\S+)$", rules_page.PAGE.read_text("utf-8"), re.MULTILINE)
    assert headings == [(rule.code, rule.name) for rule in RULES]
