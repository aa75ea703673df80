"""Whether a test can run here: decided when it is collected, so a skip costs no set-up.

`pytest.mark.needs("strace")` on a test, a module or a parameter names what the machine must have.
`@needs("redis")` below `@pytest.fixture` says so of every test that uses the fixture. A test whose
need is missing is skipped with the reason; it fails where nothing may be left out (in CI).

`pytest.mark.only(CONDITION, REASON)` skips the parameters for which a condition on them is false.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import signature
from typing import Any, TypeVar

import pytest

from tests.proof.libraries.aws_cli import built as aws_cli_built
from tests.proof.libraries.ferrokinesis import built as ferrokinesis_built
from tests.proof.libraries.go import built as go_built
from tests.proof.libraries.kcl import built as kcl_built
from tests.proof.libraries.kinesis_local import built as kinesis_local_built
from tests.proof.libraries.spark import built as spark_built
from tests.support import servers

Function = TypeVar("Function", bound=Callable[..., Any])
MISSING = pytest.StashKey[str]()
"""What a test lacks that may not be skipped."""


def needs(*names: str) -> Callable[[Function], Function]:
    """Mark a fixture's function; pytest takes no marks of its own there."""

    def decorate(function: Function) -> Function:
        function.needs = names  # type: ignore[attr-defined]
        return function

    return decorate


def decide(items: Iterable[pytest.Item]) -> None:
    """Mark what cannot run here: to be skipped, or to fail."""
    for item in items:
        for name in _needs_of(item):
            reason = missing(name)
            if reason is not None and _required(name):
                item.stash[MISSING] = reason
            elif reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))
        params = item.callspec.params if hasattr(item, "callspec") else {}
        for mark in item.iter_markers("only"):
            if (reason := excluded(mark, params)) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


def fail_if_missing(item: pytest.Item) -> None:
    """Fail a test that lacks what may not be missing; called before its fixtures are set up."""
    if MISSING in item.stash:
        pytest.fail(item.stash[MISSING], pytrace=False)


def excluded(only: pytest.Mark, params: Mapping[str, Any]) -> str | None:
    """The reason of an `only` mark whose condition is false for these parameters."""
    condition, reason = only.args
    holds = condition(**{name: params[name] for name in signature(condition).parameters})
    return None if holds else reason


def _needs_of(item: pytest.Item) -> Iterable[str]:
    for mark in item.iter_markers("needs"):
        yield from mark.args
    fixtures = getattr(item, "_fixtureinfo", None)
    for definitions in fixtures.name2fixturedefs.values() if fixtures is not None else ():
        yield from getattr(definitions[-1].func, "needs", ())


@cache
def missing(name: str) -> str | None:
    """What is missing of a need, as a reason; `None` when nothing is.

    Raises:
        KeyError: No need has this name.
    """
    return _CHECKS[name]()


_NEVER_REQUIRED = frozenset({"ferrokinesis"})
"""What takes minutes to build, and a toolchain that nothing else here needs."""


def _required(name: str) -> bool:
    if name in _NEVER_REQUIRED:
        return False
    beside = name.startswith("pyspark")
    return bool(os.environ.get("RESHARDCTL_NEED_SPARK" if beside else "CI"))


def _strace() -> str | None:
    if sys.platform != "linux":
        return "strace is for Linux"
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(
        ["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, text=True, check=False
    )
    return f"strace cannot trace here: {tried.stderr.strip()[:200]}" if tried.returncode else None


def _pyspark() -> str | None:
    absent = [
        name for name, there in (
            ("PySpark, an extra", importlib.util.find_spec("pyspark") is not None),
            ("Java", shutil.which("java") or os.environ.get("JAVA_HOME")),
        )
        if not there
    ]  # fmt: skip
    return f"needs {' and '.join(absent)}" if absent else None


_CHECKS: dict[str, Callable[[], str | None]] = {
    "redis": lambda: servers.missing("redis"),
    "postgres": lambda: servers.missing("postgres"),
    "mysql": lambda: servers.missing("mysql"),
    "strace": _strace,
    "pyspark": _pyspark,
    "pyspark-hdfs": lambda: _pyspark() or missing("hdfs"),
    "real-kcl": kcl_built.missing,
    "real-kinsumer": lambda: go_built.missing("kinsumer"),
    "real-kinesis-consumer": lambda: go_built.missing("kinesis-consumer"),
    "real-telegraf-1.34": lambda: go_built.missing("telegraf-1.34"),
    "real-telegraf-1.39": lambda: go_built.missing("telegraf-1.39"),
    "aws-cli": aws_cli_built.missing,
    "kinesis-local": kinesis_local_built.missing,
    "ferrokinesis": ferrokinesis_built.missing,
    "hadoop-aws": lambda: spark_built.unfetched("hadoop-aws"),
    "hdfs": lambda: spark_built.unfetched("hdfs") or spark_built.missing("4"),
    "spark-3.5": lambda: spark_built.missing("3.5"),
    "spark-4.0": lambda: spark_built.missing("4.0"),
    "spark-4": lambda: spark_built.missing("4"),
}
