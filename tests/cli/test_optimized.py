"""Under `python -O` nothing is written: the interpreter leaves assertions out."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-O", "-m", "reshardctl", *argv],
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("words", [
    ["fix", "kcl://app", "--stream", "orders", "--yes"],
    ["fix", "--resume", "no.jsonl"],
    ["undo", "no.jsonl", "--yes"],
    ["rebuild", "kcl://app", "--stream", "orders", "--from", "/lake"],
], ids=" ".join)  # fmt: skip
def test_what_writes_is_refused(words):
    ran = run(*words)
    assert ran.returncode == 4, ran.stderr
    assert ran.stderr.startswith("refused: Python runs with -O")


def test_what_reads_is_not():
    assert run("rule", "RSH203").returncode == 0
