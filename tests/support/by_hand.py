"""Somebody else's bash, which runs the script that `fix --dry-run` prints."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.lab import Lab

Ran = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Bash:
    """folder: for the script. environment: their credentials, and where servers are."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, script: str, *words: str) -> Ran:
        file = self.folder / "plan.sh"
        file.write_text(script, encoding="utf-8")
        return subprocess.run(
            ["bash", str(file), *words], env={**os.environ, **self.environment},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip


def check_as_fix_and_undo(lab: Lab, bash: Bash, form: str) -> str:
    """The script, once it has left the store as `fix` does, and as `undo` does."""
    before = lab.items()
    shown = lab.cli("fix", *lab.where, "--dry-run", "--format", form)
    assert shown.code == 1, shown.err
    assert lab.items() == before, "a dry run has written"

    ran = bash(shown.out)
    assert ran.returncode == 0, ran.stderr
    by_hand = lab.items()
    assert by_hand != before
    assert lab.cli("fix", *lab.where, "--dry-run", "--format", "json").json["decision"][
        "kind"] == "nothing"  # fmt: skip
    again = bash(shown.out)
    assert again.returncode != 0, "guards hold for rows that have changed"
    assert lab.items() == by_hand

    back = bash(shown.out, "undo")
    assert back.returncode == 0, back.stderr
    undone = lab.items()
    lab.restore(before)
    assert lab.items() == before
    assert lab.fix().code == 0
    assert lab.items() == by_hand
    assert lab.undo().code == 0
    assert lab.items() == undone
    return shown.out
