"""The process of a worker: ``python -m tests.proof.mutants.forking OUTPUT``, in its copy.

Reads one JSON object a line, ``tests`` (ids) and ``seconds``, runs the tests in a child until one
fails, and answers with ``killer``. The child's output is in the file OUTPUT.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

LOADED = (
    "boto3", "botocore.session", "hypothesis.strategies", "jsonschema", "moto.dynamodb.models",
    "moto.dynamodb.responses", "moto.server", "msgspec", "networkx", "pytest_timeout",
    "rich.console", "rich.table", "typer.testing", "werkzeug.serving",
)  # fmt: skip
"""Imported once, before the children: libraries only, nothing that is mutated."""
ENDING_SECONDS = 15.0


class Chosen:
    """Of what is collected, these tests, in this order; notes the first that fails."""

    def __init__(self, tests: list[str]) -> None:
        self._places = {name: place for place, name in enumerate(tests)}
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._places]
        items.sort(key=lambda item: self._places[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or f"import of {report.nodeid}"


def main() -> None:
    output = Path(sys.argv[1])
    for name in LOADED:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        wish = json.loads(line)
        killer = _in_child(wish["tests"], wish["seconds"], output)
        print(json.dumps({"killer": killer}), flush=True)


def _in_child(tests: list[str], seconds: float, output: Path) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for descriptor in (1, 2):
            os.dup2(file, descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.write(writing, _run(tests).encode()[:4000])
        os.close(writing)
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    ended = _ended(child, seconds)
    said = os.read(reading, 4096).decode() if ended else ""
    os.close(reading)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not ended:
        return "time"
    return said.removeprefix("ran") if said else "exit"


def _run(tests: list[str]) -> str:
    chosen = Chosen(tests)
    files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
    quick = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short"]
    code = pytest.main([*quick, *files], plugins=[chosen])
    sys.stdout.flush()
    if code == pytest.ExitCode.OK:
        return "ran"
    return chosen.failed or f"exit code {int(code)}"


def _ended(child: int, seconds: float) -> bool:
    """Whether it ended by itself in this time; else it is interrupted, then killed."""
    deadline = time.monotonic() + seconds
    if _gone(child, deadline):
        return True
    os.kill(child, signal.SIGINT)
    if not _gone(child, time.monotonic() + ENDING_SECONDS):
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return False


def _gone(child: int, deadline: float) -> bool:
    pause = 0.002
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    return False


if __name__ == "__main__":
    main()
