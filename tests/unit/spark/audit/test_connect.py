"""The same audit through Spark Connect, by a real server on the loopback, in a process of its own
(one process has either kind of session)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


def _lacks() -> str:
    """Why there can be no server; "" where there can."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return "needs PySpark, an extra"
    for name in ("grpc", "grpc_status", "pandas", "pyarrow"):
        if find_spec(name) is None:
            return f"needs {name}"
    jars = Path(found.origin).parent / "jars"
    if not list(jars.glob("spark-connect_*.jar")):
        return "this PySpark brings no Connect server (before 4.0)"
    return ""


LACKS = _lacks()
INSIDE = Path(__file__).with_name("connected.py")


@pytest.mark.skipif(bool(LACKS), reason=LACKS or "-")
def test_through_connect(tmp_path: Path) -> None:
    root = Path(__file__).parents[4]
    found = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    environment = {
        **os.environ, "PYTHONPATH": ":".join(map(str, found)), "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable, "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    environment.pop("SPARK_HOME", None)
    done = subprocess.run(
        [sys.executable, str(INSIDE), str(tmp_path)],
        capture_output=True, text=True, timeout=500, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["connect"] is True
    assert facts["rows"] == 12
    assert facts["shards"] == {"1": [6, 1, 0], "2": [4, 0, 1], "3": [1, 0, 0]}
    assert facts["unusable"] == ["no number"]
    assert facts["path"] == ["parquet", 12, ""]
    assert facts["read"] == facts["lacks"] == 3 and facts["missing"] == 3
