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

from reshardctl.spark.session import fit, session

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


@pytest.mark.parametrize(("cores", "said", "fitting"), [
    (2, {}, "8"), (16, {}, "64"), (128, {}, "200"), (2, {SHUFFLED: "31"}, None),
])  # fmt: skip
def test_a_session_of_our_own_has_partitions_for_its_cores(
    cores: int, said: dict[str, str], fitting: str | None
) -> None:
    """What the operator has said in spark-defaults.conf or PYSPARK_SUBMIT_ARGS stays."""
    given: dict[str, str] = {}
    conf = SimpleNamespace(contains=said.__contains__)
    context = SimpleNamespace(defaultParallelism=cores, getConf=lambda: conf)
    fit(SimpleNamespace(sparkContext=context, conf=SimpleNamespace(set=given.__setitem__)))
    assert given.get(SHUFFLED) == fitting


def test_a_session_that_is_there_stays_as_it_is(spark: Any) -> None:
    before = spark.conf.get(SHUFFLED)
    assert session().conf.get(SHUFFLED) == before == "2"
