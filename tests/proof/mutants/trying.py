"""Runs tests on mutants, each in a child of a process that has the libraries loaded already.

A worker has a copy of the checkout, so that commands which a test starts run the mutant too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.proof.mutants.drawing import ROOT

PATIENCE, GRACE = 5.0, 20.0
"""A round may take so many times its tests' own time, and so many seconds more."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one round. killer: the test that failed, "time" or "exit"; "" for none."""

    killer: str
    output: str


class Worker:
    """A copy of the checkout and a process in it; for one thread."""

    def __init__(self, folder: Path, python: Path) -> None:
        self._folder = folder
        self._results = folder.with_suffix(".result")
        _copy(folder)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(folder)}
        subprocess.run(
            [python, "-m", "compileall", "-q", "reshardctl", "tests"], cwd=folder, check=True,
            env={**environment, "PYTHONDONTWRITEBYTECODE": ""},
        )  # fmt: skip
        self._process = subprocess.Popen(
            [python, "-m", "tests.proof.mutants.forking", self._results], cwd=folder,
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def changed(self, path: Path, text: str) -> Iterator[None]:
        """The copy with this text in this file."""
        file = self._folder / path
        kept, stat = file.read_bytes(), file.stat()
        file.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(kept)
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def run(self, tests: Sequence[str], seconds: float) -> Trial:
        """Until the first test fails. seconds: what they take on the real program."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._results.write_text("", encoding="utf-8")
        wish = {"tests": list(tests), "seconds": seconds * PATIENCE + GRACE}
        print(json.dumps(wish), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker in {self._folder} has ended")
        output = self._results.read_text(encoding="utf-8", errors="replace")
        return Trial(json.loads(answer)["killer"], output)


def _copy(folder: Path) -> None:
    """What git knows of the checkout, as it lies there now."""
    shutil.rmtree(folder, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
