"""`F`: the functions of pyspark.sql, imported at the first call. Modules load without PySpark."""

from __future__ import annotations

from typing import Any


class _Functions:
    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import functions

        return getattr(functions, name)


F = _Functions()
