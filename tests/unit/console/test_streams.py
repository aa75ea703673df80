"""Messages that stderr does not accept: the exit code still tells how a command ended."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

NO_SUCH_RULE = f"'{sys.executable}' -m reshardctl rule RSH999"


def run(redirection: str, command: str = NO_SUCH_RULE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-c", f"{command} {redirection}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_usage_error_is_still_2(redirection):
    """1 would be findings."""
    done = run(redirection)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_reader_of_stderr_that_has_gone():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "reshardctl", "rule", "RSH999"],
        stdout=subprocess.PIPE, stderr=write, text=True, timeout=120, check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stdout) == (2, "")


def test_no_file_takes_the_number_of_a_closed_stderr(tmp_path):
    """What a library or a JVM prints there would be written into that file."""
    code = (
        "import os, sys; from reshardctl.console.failures import unfailing_stderr; "
        "unfailing_stderr(); journal = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY); "
        "print(journal, sys.stderr.isatty())"
    )
    done = run(f"-c '{code}' '{tmp_path / 'journal'}' 2>&-", f"'{sys.executable}'")
    number, terminal = done.stdout.split()
    assert int(number) > 2 and terminal == "False"
