"""Failures whose text comes from a file or a command line that holds anything."""

from __future__ import annotations

import errno
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
