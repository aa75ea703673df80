"""Links between pages lead to a page that is there, and to a heading that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.whole.docs.pages import PAGES, ROOT, prose

LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and docs/site/mkdocs.yml make them."""
    names: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = base = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
        count = 0
        while name in names:
            count += 1
            name = f"{base}-{count}"
        names.add(name)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_anchors(page):
    wrong = []
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
        path, _, anchor = link.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or ROOT not in target.parents:
            wrong.append(f"{link}: no such file")
        elif anchor and anchor not in anchors(target):
            wrong.append(f"{link}: no such heading")
    assert not wrong, f"{page.relative_to(ROOT)}: {wrong}"


def test_anchors_are_those_of_github(tmp_path):
    """The rules are those of github.com/jch/html-pipeline, lib/html/pipeline/toc_filter.rb."""
    page = tmp_path / "page.md"
    page.write_text("# A `code`, and more\n## 1. Start: now\n## E200 UsageE\n## 1. Start: now\n")
    assert anchors(page) == {"a-code-and-more", "1-start-now", "e200-usagee", "1-start-now-1"}
