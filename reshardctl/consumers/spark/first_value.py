"""Reads JSON like Spark: the first value of a text counts, whatever follows it.

json4s on Jackson; runs on Spark 3.5.9, 4.0.5 and 4.3.0, November 2026.
"""

from __future__ import annotations

import json
from typing import Any

from reshardctl.consumers.spark.malformed import Malformed

_DECODER = json.JSONDecoder()


def first_value(text: str, what: str = "") -> Any:
    """The first value; raises Malformed where there is none. what: the text's name in the file."""
    try:
        value, _ = _DECODER.raw_decode(text.lstrip(" \t\r\n"))
    except RecursionError:
        raise Malformed(f"{what} is nested too deep".lstrip()) from None
    except ValueError as error:
        raise Malformed(f"{what} is no JSON: {error}".lstrip()) from None
    return value
