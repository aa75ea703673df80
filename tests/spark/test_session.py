"""How a command comes to a session, or says why it does not. Starts no JVM."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
