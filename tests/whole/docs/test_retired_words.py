"""Words that a reader would have to learn: none in the pages, and none in what the program says.

docs/how-it-works.md has the word to use instead. A table of documents' versions, a value of an
option and the name of a rule keep the word that they were published with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import FILES, nodes
from tests.whole.docs.pages import ROOT

RETIRED = re.compile(
    r"\b(dies?|died|owe[sd]?|kin|landing|first aid|first_aid|settled|no-line)\b", re.IGNORECASE
)
PUBLISHED = re.compile(
    r"dies-after-reshard|settled\\?\|shards=|\bsettled` \(|"
    r"the (stream|listing) has settled|not settled"
)
"""`--until settled` waits for a stream whose reshard has come to its end, and says so."""
OLD_DOCUMENTS = ("commands/survey.py",)
"""Modules that take the word as a value."""
ABOUT_VERSIONS = ("docs/ci.md", "CHANGELOG.md")
"""Pages that quote the words of earlier versions."""
QUOTED = re.compile(r'"[^"]*"|`[^`]*`')


@cache
def texts() -> list[tuple[str, str]]:
    """Where each text of the package and each line of a page is, and the text."""
    return list(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    pages = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]
    for page in pages:
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
            yield f"{page.relative_to(ROOT)}:{number}", line
    for module in FILES:
        if module.as_posix().endswith(OLD_DOCUMENTS):
            continue
        for node in nodes(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{module.relative_to(ROOT)}:{node.lineno}", node.value


def retired(text: str) -> str | None:
    """The first retired word of a text."""
    match = RETIRED.search(PUBLISHED.sub("", text))
    return match[0] if match else None


AFTER = re.compile(
    r"\bbehind (its|the|that|a|an|every) "
    r"(\w+ )?(number|position|place|EndingSequenceNumber|end|record|colon|sign)\b"
)
"""*Behind* is lag alone: what was not reached yet. What follows a place is *after* it."""
LEFT = re.compile(
    r"\b(leav(e|es|ing)|left)\b[^.|]{0,40}\bbehind\b|"
    r"\bbehind (an? |the )?(proxy|output|interface)\b", re.DOTALL,
)
"""What an incident leaves, or stands in the way, is not behind either."""


def test_behind_never_means_after() -> None:
    assert AFTER.search("it resumes behind its position") is not None
    assert LEFT.search("what the panic leaves behind") is not None
    assert [
        f"{where}: {text}" for where, text in texts()
        if AFTER.search(text) or (LEFT.search(text) and not where.startswith("CHANGELOG"))
    ] == []


def test_never_read_is_what_is_lost() -> None:
    """kinsumer has shards without a number, which begin at the start: they are *not begun*."""
    rows = "reshardctl/consumers/kinsumer"
    told = [(where, text) for where, text in texts() if where.startswith(rows)]
    assert any("not begun" in text for _, text in told)
    assert [where for where, text in told if re.search(r"(was|were) never read", text)] == []


def test_no_page_and_no_message_has_a_retired_word() -> None:
    found = []
    for where, text in texts():
        if where.startswith(ABOUT_VERSIONS):
            text = QUOTED.sub("", text)
        if word := retired(text):
            found.append(f"{where}: {word}")
    assert found == []


@pytest.mark.parametrize("text", [
    "2.x dies of them", "what is still owed", "RSH231 dies-after-reshard: it dies", "First aid:",
])  # fmt: skip
def test_the_check_sees_one(text: str) -> None:
    assert retired(text)


@pytest.mark.parametrize("text", ["RSH231 dies-after-reshard", "the stream has settled (default)"])
def test_published_names_stay(text: str) -> None:
    assert retired(text) is None


def test_every_module_of_old_words_is_there() -> None:
    assert all((Path(ROOT) / "reshardctl" / name).exists() for name in OLD_DOCUMENTS)
