"""`F`: the functions of pyspark.sql, imported at the first call. Modules load without PySpark.

Spark's message about a failure is reduced to one line. py4j writes `An error occurred while calling
o40.load.`, then a colon and the exceptions of Java, each with its class before its message and its
stack below.

Digits from the middle of a number are extracted as SQL; a number of layout v2 has 56. A substring
of text is found by walking over its characters, one of bytes is copied: that, and not the cast, was
two thirds of the cost.
"""

from __future__ import annotations

import re
from typing import Any


class _Functions:
    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import functions

        return getattr(functions, name)


F = _Functions()


LONGEST = 300
_CAUSE = "Caused by: "
_CALL = re.compile(r"An error occurred while calling \S+")
_CLASSES = re.compile(r"^(?::\s*)?(?:(?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b:?\s*)+")


def full_message(error: Any) -> str:
    """The complete message."""
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else f"{error}\n{java}"


def line(text: str) -> str:
    """The first line with a message; Java class names are removed if more is left."""
    for text_line in text.splitlines():
        bare = _CLASSES.sub("", text_line.strip()) or text_line.strip().removeprefix(": ")
        if bare and not _CALL.match(bare) and not bare.endswith(":"):
            return bare[:LONGEST]
    return ""


def line_and_cause(text: str) -> str:
    """That line, and below it the innermost cause: `Task failed …: No space left on device`."""
    said = line(text)
    below = [each for each in text.splitlines() if each.startswith(_CAUSE)]
    cause = _CLASSES.sub("", below[-1].removeprefix(_CAUSE))[:LONGEST] if below else ""
    return said if cause in said else f"{said}: {cause}"


def whole(name: str, first: int, count: int) -> str:
    """SQL: BIGINT of `count` digits from byte `first` (1-based) on; NULL if it is no number."""
    return (
        f"try_cast(cast(substring(cast({name} AS binary), {first}, {count}) AS string) AS bigint)"
    )
