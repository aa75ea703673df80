"""Drivers that are not installed: each is named by the extra of `pyproject.toml` that brings it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from reshardctl.errors import UsageError
from reshardctl.stores import redis
from reshardctl.stores.sql import mysql, postgres

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.parametrize(("driver", "module", "extra", "package"), [
    (redis.driver, "redis", "redis", "redis"), (mysql.driver, "pymysql", "mysql", "pymysql"),
    (postgres.driver, "psycopg", "postgres", "psycopg"),
])  # fmt: skip
def test_a_driver_that_is_missing_names_its_extra(monkeypatch, driver, module, extra, package):
    monkeypatch.setitem(sys.modules, module, None)  # type: ignore[arg-type]  # it cannot be imported
    with pytest.raises(UsageError, match="needs a driver that is not installed") as caught:
        driver()
    assert caught.value.next.startswith(f"pip install '.[{extra}]'")
    extras = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    assert any(wanted.lower().startswith(package) for wanted in extras[extra])
