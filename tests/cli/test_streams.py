"""Standard streams that take nothing: one line on stderr, exit 3."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMAND = f"'{sys.executable}' -m reshardctl rule RSH203"


def run(redirection: str) -> tuple[int, str]:
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{COMMAND} {redirection}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return ran.returncode, ran.stderr


@pytest.mark.parametrize(
    ("redirection", "line"),
    [
        (">/dev/full", "error: stdout: No space left on device; the output is not complete\n"),
        (">&-", "error: stdout is closed; to hide the report run it with >/dev/null\n"),
        ("<&-", "error: stdin is closed; run it with </dev/null\n"),
        (">&- 2>&-", ""),
    ],
)
def test_one_line_and_exit_3(redirection, line):
    assert run(redirection) == (3, line)
