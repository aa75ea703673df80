"""docs/schemas.md names every schema that the code writes; there is evidence to count."""

from __future__ import annotations

import re
from pathlib import Path

import reshardctl
from scripts.pages.evidence_counts import LIBRARIES, counts

SCHEMA = re.compile(r"\breshardctl/[a-z-]+/\d+\b")
PAGE = Path(__file__).parents[3] / "docs" / "schemas.md"


def test_the_page_has_every_schema_and_no_other():
    package = Path(reshardctl.__file__).parent
    sources = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    written = {name for text in sources for name in SCHEMA.findall(text)}
    assert set(SCHEMA.findall(PAGE.read_text(encoding="utf-8"))) == written


def test_there_is_evidence_of_every_kind():
    for library in LIBRARIES:
        numbers = counts(library)
        assert min(numbers["cases"], numbers["golden files"], numbers["reference files"]) > 0
