"""A plugin of pytest: which lines each test runs, and how long it takes.

``pytest -p tests.proof.mutants.contexts`` with RESHARDCTL_CONTEXTS, a folder, writes there a data
file of coverage.py for each process of the run, whose contexts are the ids of the tests, and
``seconds-*.json``. Lines that run when a module is imported have no test.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = os.environ.get("RESHARDCTL_CONTEXTS", "")
_seconds: defaultdict[str, float] = defaultdict(float)
_coverage = coverage.Coverage(
    data_file=str(Path(FOLDER) / "coverage"), data_suffix=True, source=["reshardctl"],
    branch=False, config_file=False, check_preimported=False, messages=False,
)  # fmt: skip


def pytest_configure() -> None:
    if FOLDER:
        _coverage.start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _coverage.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        _coverage.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration
    if not report.passed and report.when == "call":
        _seconds[report.nodeid] = float("inf")


def pytest_sessionfinish() -> None:
    if not FOLDER or not _seconds:
        return
    _coverage.stop()
    _coverage.save()
    passed = {name: seconds for name, seconds in _seconds.items() if seconds != float("inf")}
    (Path(FOLDER) / f"seconds-{os.getpid()}.json").write_text(json.dumps(passed))
