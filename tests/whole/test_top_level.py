"""What a visitor of the repository sees first, and in scripts: few entries, each of which works."""

from __future__ import annotations

import os
import re
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


SCRIPTS = {
    "env.sh", "test", "check", "prove", "demo", "docs", "lock", "release",
    "bench", "pages", "requirements", "suites",
}  # fmt: skip


def test_scripts_holds_these_and_nothing_else():
    assert entries("scripts") == SCRIPTS


@pytest.mark.parametrize("path", [
    ".ci/run", ".ci/schemas", "scripts/bench/run", "scripts/suites/extras", "scripts/suites/oldest",
    *(f"scripts/{name}" for name in sorted(SCRIPTS) if (ROOT / "scripts" / name).is_file()),
])  # fmt: skip
def test_a_script_can_be_run_and_names_scripts_that_are_there(path):
    script = ROOT / path
    assert path.endswith(".sh") or os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    text = script.read_text(encoding="utf-8")
    named = re.findall(r"(?<![\w/.])((?:scripts|\.ci)/[\w/.-]++)(?![*$])", text)
    assert [name for name in named if not (ROOT / name.rstrip(".")).exists()] == []


@pytest.mark.parametrize("suite", ["long", "crash", "sinks", "sim", "soak", "chaos"])
def test_each_suite_of_scripts_test_is_named_in_its_head(suite):
    text = (ROOT / "scripts" / "test").read_text(encoding="utf-8")
    assert f"#   scripts/test {suite} " in text and f"\n  {suite})" in text
