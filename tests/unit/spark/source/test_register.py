"""Registering: cheap to import, and plain about what is too old. Needs no PySpark."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from reshardctl.errors import UsageError
from reshardctl.spark.source import register


def test_importing_it_costs_nothing():
    code = (
        "import sys, reshardctl.spark.source; "
        "print({'pyspark', 'pyarrow', 'boto3', 'botocore'} & sys.modules.keys())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_a_spark_that_is_too_old():
    with pytest.raises(UsageError, match=r"needs Spark 4\.0 or later, this session runs 3\.5\.9"):
        register(SimpleNamespace(version="3.5.9"))
