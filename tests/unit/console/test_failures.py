"""Failures whose text holds anything, and messages that stderr does not accept: the exit code still
tells how a command ended."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reshardctl.console.failures import guarded
from reshardctl.errors import UsageError


def test_a_value_longer_than_any_path_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise UsageError(f"a.snapshot: not a number: {'x' * 70_000!r}", "y" * 5000)

    assert guarded(command) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: a.snapshot: not a number: 'xxx")
    assert "(70002 characters)" in said and "(5000 characters)" in said
    assert len(said) < 600


def test_a_path_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/x" * 2048

    def command() -> None:
        raise UsageError(path)

    guarded(command)
    assert capsys.readouterr().err == f"error: {path}\n"


def test_a_name_that_no_file_can_have(capsys: pytest.CaptureFixture[str]) -> None:
    """Path.is_dir and its like raise ENAMETOOLONG; they answer every other error with False."""
    name = "x" * 5000
    assert guarded(lambda: Path(name).is_dir()) == 2
    said = capsys.readouterr().err
    assert "File name too long" in said and "shorter" in said and "defect" not in said


def test_another_error_of_the_system_is_a_defect(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise OSError(errno.EIO, "Input/output error", "a")

    assert guarded(command) == 3
    assert "defect of reshardctl" in capsys.readouterr().err


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
