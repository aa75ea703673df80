"""What a visitor of the repository sees first: few entries, each for a reason of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP = {
    "pyproject.toml", "reshardctl", "tests", "scripts", "docs", "deploy",
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE",
    ".ci", ".gitignore", ".gitattributes",
    ".pre-commit-hooks.yaml",  # pre-commit looks for it here and nowhere else
}  # fmt: skip


def entries(folder: str = ".") -> set[str]:
    """The names in a folder that are committed or about to be."""
    if not (ROOT / ".git").exists():
        pytest.skip("an unpacked sdist has what was built there besides")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."]
    run = subprocess.run(listing, cwd=ROOT / folder, capture_output=True, check=True, text=True)
    names = [name for name in run.stdout.split("\0") if (ROOT / folder / name).exists()]
    return {name.partition("/")[0] for name in names if name}


def test_the_top_level_holds_these_and_nothing_else():
    assert entries() == TOP
