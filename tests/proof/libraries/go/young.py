"""A case as of now: the command line is a process of its own, and its clock is the real one.

The stream is created so long ago as the case says, and literal sequence numbers move along.
"""

from __future__ import annotations

import re
import time
import tomllib
from pathlib import Path

from tests.support.case import Case, from_table

CREATED = re.compile(r"^created = \d+$", re.MULTILINE)
NOW = re.compile(r"^now = \d+$", re.MULTILINE)
LITERAL = re.compile(r"\d{56}")
EPOCH_BIT, TIME_BIT = 148, 36
"""Where a sequence number has the shard's birth and the record's second, see case_stream.py."""


SLACK = 300
"""Seconds that a stream with trimmed records is younger than its case says: a record on the very
horizon would be gone before the library has started, for this clock runs."""


def young(path: Path) -> Case:
    """The case in this file, with `now` as it is."""
    text = path.read_text(encoding="utf-8")
    stream = tomllib.loads(text)["stream"]
    age = stream["now"] - (SLACK if stream["now"] > stream.get("retention_hours", 24) * 3600 else 0)
    delta = int(time.time()) - age - stream["created"]
    text = CREATED.sub(f"created = {stream['created'] + delta}", text)
    text = NOW.sub(f"now = {age}", text)
    return from_table(path, tomllib.loads(LITERAL.sub(lambda m: _moved(m[0], delta), text)))


def _moved(number: str, seconds: int) -> str:
    return str(int(number) + (seconds << EPOCH_BIT) + (seconds << TIME_BIT))
