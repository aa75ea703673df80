"""Runs tests under coverage.py in two processes, and is the plugin of pytest that measures in each.

`BY_TEST` notes which test runs which line, and how long each takes; `BRANCHES` the lines and
branches that any test runs, which is faster. Measured is what runs in the processes of the tests,
in any thread; a command that a test starts as a process of its own is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".venv" / "bin" / "python"
FAILED = 1
"""Pytest's exit code where tests failed."""
BY_TEST, BRANCHES = "tests", "branches"
FOLDER, KIND = "RESHARDCTL_MEASURED", "RESHARDCTL_MEASURE"
"""What tells the plugin where its files go, and what is measured."""


def measure(folder: Path, kind: str, tests: Sequence[str]) -> int:
    """Writes ``coverage``, a data file of coverage.py, into the folder, and ``seconds-*.json``.

    kind: `BRANCHES`, or `BY_TEST`, whose contexts are the ids of tests; lines that run when a
    module is imported have none. tests: as for pytest; without any, the default suite. Returns
    pytest's exit code.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    environment = {
        **os.environ, FOLDER: str(folder), KIND: kind,
        "PYTHONPATH": str(Path(coverage.__file__).parents[1]),
    }  # fmt: skip
    arguments = ["-q", "-p", __name__, "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    code = subprocess.run(
        [PYTHON, "-m", "pytest", *arguments, *tests], cwd=ROOT, env=environment, check=False
    ).returncode
    whole = coverage.CoverageData(str(folder / "coverage"))
    for path in sorted(folder.glob("coverage.*")):
        part = coverage.CoverageData(str(path))
        part.read()
        whole.update(part)
        path.unlink()
    whole.write()
    return code


if FOLDER in os.environ and "PYTEST_XDIST_WORKER" in os.environ:  # where tests run
    # Not in a hook: the first of them comes after conftest.py, which imports the package.
    _by_test = os.environ[KIND] == BY_TEST
    _seconds: defaultdict[str, float] = defaultdict(float)
    _coverage = coverage.Coverage(
        data_file=str(Path(os.environ[FOLDER]) / "coverage"), data_suffix=True,
        source=["reshardctl"], branch=not _by_test, config_file=False, messages=False,
    )  # fmt: skip
    _coverage.start()

    class _Patient:
        """What `threading` and coverage.py take for `sys`: a new thread would end where it installs
        a trace function while another one does (Python 3.11). That takes a moment."""

        def __getattr__(self, name: str) -> Any:
            return getattr(sys, name)

        def settrace(self, hook: Any) -> None:
            for _ in range(1000):
                try:
                    return sys.settrace(hook)
                except RuntimeError:
                    time.sleep(0.001)
            return sys.settrace(hook)

    threading._sys = _Patient()  # type: ignore[attr-defined]
    coverage.collector.sys = _Patient()  # type: ignore[attr-defined]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
        if _by_test:
            _coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            if _by_test:
                _coverage.switch_context("")

    def pytest_runtest_logreport(report: pytest.TestReport) -> None:
        _seconds[report.nodeid] += report.duration
        if not report.passed and report.when == "call":
            _seconds[report.nodeid] = float("inf")

    def pytest_sessionfinish() -> None:
        if not _seconds:
            return
        _coverage.stop()
        _coverage.save()
        passed = {name: seconds for name, seconds in _seconds.items() if seconds != float("inf")}
        written = Path(os.environ[FOLDER]) / f"seconds-{os.getpid()}.json"
        written.write_text(json.dumps(passed))
