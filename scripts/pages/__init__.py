"""Pages and other files that are written from the code: `python -m scripts.pages [NAME ...]`.

A module for each, with its PAGE and the text for it, `page()`; only the policies of Terraform are
several files. Nothing in the package imports this.
"""

from __future__ import annotations

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
