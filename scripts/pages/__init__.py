"""Pages and other files that are written from the code: `python -m scripts.pages [NAME ...]`.

A module for each, with its PAGE and the text for it, `page()`; only the policies of Terraform are
several files. Where the rest of a page is written by hand, `page()` puts its text between two
comments. Nothing in the package imports this.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

NAMES = (
    "architecture", "commands", "errors", "evidence", "incidents", "man", "python", "rules",
    "terraform_policies",
)  # fmt: skip


def written(name: str) -> dict[Path, str]:
    """The files that a module writes, each with its text."""
    module = import_module(f"{__name__}.{name}")
    if name == "terraform_policies":
        return {module.FOLDER / f"{each}.json": text for each, text in module.policies().items()}
    return {module.PAGE: module.page()}


def between_comments(page: Path, name: str, section: str) -> str:
    """A page with this section between its comments ``begin NAME`` and ``end NAME``.

    Raises ValueError where the page does not have both, once each.
    """
    parts = re.split(
        rf"(<!-- begin {name}\b[^>]*-->\n|<!-- end {name} -->\n)", page.read_text(encoding="utf-8")
    )
    if len(parts) != 5:
        raise ValueError(f"{page}: needs one comment 'begin {name}' and one 'end {name}'")
    before, begin, _, end, after = parts
    return f"{before}{begin}\n{section}\n{end}{after}"
