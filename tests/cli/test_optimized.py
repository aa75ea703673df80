"""Under `python -O` nothing is written: the interpreter leaves assertions out."""

from __future__ import annotations

import subprocess
import sys

RUN = """
import sys
from reshardctl.cli.app import run
for line in sys.stdin:
    print("code", int(run(line.split())), file=sys.stderr)
"""
WRITING = """\
fix kcl://app --stream orders --yes
fix --resume no.jsonl
undo no.jsonl --yes
rebuild kcl://app --stream orders --from /lake
"""


def test_what_writes_is_refused_and_what_reads_is_not():
    ran = subprocess.run(
        [sys.executable, "-O", "-c", RUN], input=f"{WRITING}rule RSH203\n",
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    *refused, rest = ran.stderr.split("code 4\n")
    assert len(refused) == len(WRITING.splitlines()) and rest == "code 0\n", ran.stderr
    assert all(words.startswith("refused: Python runs with -O") for words in refused)
    assert ran.stdout.startswith("RSH203 ")
