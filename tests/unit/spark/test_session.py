"""How a command comes to a session, or says why it does not, and what it sets there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reshardctl.spark.session import JAVA_OPTIONS, SMALL, _configuration, fit, is_small, session

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None, reason="needs PySpark"
)
CODE = """
from reshardctl.errors import ReshardError
from reshardctl.spark.session import session
try:
    session(**{words})
except ReshardError as error:
    print(int(error.exit), error.what, "|", error.next)
"""


def said(words: str = "{}", **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CODE.replace("{words}", words)], capture_output=True, text=True,
        env={**os.environ, **variables}, timeout=120, check=True,
    )
    return done.stdout


def test_without_java_it_says_which_java_to_get() -> None:
    out = said(JAVA_HOME="/nowhere", PATH="/usr/bin:/bin")
    assert out.startswith("3 no Spark session here") and "java -version" in out


def test_a_pyspark_that_is_too_old(tmp_path: Path) -> None:
    """A stand-in that says that it is 3.4."""
    package = tmp_path / "pyspark" / "sql"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text('__version__ = "3.4.1"\n')
    (package / "__init__.py").write_text("SparkSession = None\n")
    out = said(PYTHONPATH=str(tmp_path) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    assert out.startswith("2 ") and "3.5 or later, not 3.4.1" in out
    assert "pip install '.[spark]'" in out


SHUFFLED = "spark.sql.shuffle.partitions"


@pytest.mark.parametrize(("cores", "small", "said", "fitting"), [
    (2, False, {}, "8"), (16, False, {}, "64"), (128, False, {}, "200"), (2, True, {}, "2"),
    (2, False, {SHUFFLED: "31"}, None), (2, True, {SHUFFLED: "31"}, None),
])  # fmt: skip
def test_a_session_of_our_own_has_partitions_for_its_cores(
    cores: int, small: bool, said: dict[str, str], fitting: str | None
) -> None:
    """What the operator has said in spark-defaults.conf or PYSPARK_SUBMIT_ARGS stays."""
    given: dict[str, str] = {}
    conf = SimpleNamespace(contains=said.__contains__)
    context = SimpleNamespace(defaultParallelism=cores, getConf=lambda: conf)
    fit(
        SimpleNamespace(sparkContext=context, conf=SimpleNamespace(set=given.__setitem__)),
        small=small,
    )
    assert given.get(SHUFFLED) == fitting


@pytest.mark.parametrize(("sizes", "small"), [
    ((SMALL - 1, 1), True), ((SMALL, 1), False), ((), False),
])  # fmt: skip
def test_a_small_sink(tmp_path: Path, sizes: tuple[int, ...], small: bool) -> None:
    sink = tmp_path / "sink" / "day=1"
    sink.mkdir(parents=True)
    for index, size in enumerate(sizes):
        with (sink / f"part-{index}").open("wb") as file:
            file.truncate(size)
    assert is_small(str(tmp_path / "sink")) is small
    assert is_small((tmp_path / "sink").as_uri()) is small


@pytest.mark.parametrize("sink", ["s3a://lake/orders", "lake.db.orders", "/nowhere"])
def test_a_sink_of_unknown_size_is_not_small(sink: str) -> None:
    assert not is_small(sink)


@pytest.mark.parametrize(("small", "master", "variables", "once"), [
    (True, None, {}, True), (False, None, {}, False), (True, "yarn", {}, False),
    (True, None, {"SPARK_CONF_DIR": "/etc/spark"}, False),
])  # fmt: skip
def test_java_compiles_once_for_a_small_sink_alone(
    monkeypatch: pytest.MonkeyPatch, small: bool, master: str | None, variables: dict[str, str],
    once: bool,
) -> None:  # fmt: skip
    """Not where the operator has options of their own for the driver."""
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, os.environ.get(name, "127.0.0.1"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = _configuration(master, small=small)
    assert ("-XX:TieredStopAtLevel=1" in settings.get(JAVA_OPTIONS, "")) is once


def test_a_session_that_is_there_stays_as_it_is(spark: Any) -> None:
    before = spark.conf.get(SHUFFLED)
    assert session().conf.get(SHUFFLED) == before == "2"
