"""Pages for contributors name nothing that is not there: files, modules, tests and other pages.

Words in capitals (`tests/cases/CONSUMER`) stand for a name of the reader's own: nobody looks for
them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / f"{name}.md" for name in (
        "architecture", "evidence", "exit-codes", "extending", "schemas",
    )),
]  # fmt: skip
FOLDERS = ("reshardctl/", "tests/", "docs/", "scripts/", "deploy/", ".ci/")
PLACEHOLDER = re.compile(r"[A-Z]{3,}|…|\*")
NO_FILE = re.compile(r"reshardctl/[a-z]+/\d+|reshardctl\.toml")
"""The id of a schema, and the operator's own file."""

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def words(page: Path) -> Iterator[str]:
    """What a page sets in code, word by word: in a sentence, and as a command."""
    text = page.read_text(encoding="utf-8")
    for code in [*re.findall(r"`([^`\n]+)`", text), *re.findall(r"^\$ (.*)$", text, re.M)]:
        for word in code.partition("#")[0].split():
            if not PLACEHOLDER.search(word.removesuffix("README.md")) and not NO_FILE.match(word):
                yield word.rstrip(",:;")


def defines(file: Path, name: str) -> bool:
    """Whether a test, a class or a variable of this name is in a file."""
    pattern = rf"(def|class) {re.escape(name)}\b|^{re.escape(name)}\b"
    return re.search(pattern, file.read_text(encoding="utf-8"), re.M) is not None


@each_page
def test_files_and_tests_are_there(page):
    """`path`, or `path::name` for a test or another definition in it."""
    missing = []
    for word in words(page):
        path, _, name = word.partition("::")
        if not path.startswith(FOLDERS):
            continue
        file = ROOT / path
        if not file.exists() or (name and not defines(file, name)):
            missing.append(word)
    assert not missing, f"{page.name} names what is not there; correct the page: {missing}"


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or leads from one to something in it."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(value, part) and part not in getattr(value, "__annotations__", ()):
                return False
            value = getattr(value, part, None)
        return True
    return False


@each_page
def test_dotted_names_are_there(page):
    named = {word for word in words(page) if re.fullmatch(r"(reshardctl|tests)(\.\w+)+", word)}
    missing = sorted(name for name in named if not resolves(name))
    assert not missing, f"{page.name} names what is not there; correct the page: {missing}"


def test_contributing_links_every_page():
    linked = set(re.findall(r"\]\(docs/([\w-]+)\.md[#)]", PAGES[0].read_text(encoding="utf-8")))
    assert {page.stem for page in PAGES[1:]} <= linked


def test_a_name_that_is_not_there_would_be_noticed():
    assert resolves("reshardctl.model.AnomalyKind.PENDING")
    assert not resolves("reshardctl.model.NoSuchThing")
    assert not resolves("reshardctl.no_such_room.Thing")
