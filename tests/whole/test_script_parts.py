"""What .ci/parts.sh and scripts/env.sh give to the scripts.

Named parts with their seconds, two at a time; and an environment, whose making is told.
"""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.support.terminal import written_to

CI = Path(__file__).parents[2] / ".ci"
ENV = Path(__file__).parents[2] / "scripts" / "env.sh"


def ran(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A script of this text, behind the line that gives it its parts."""
    lines = ("set -euo pipefail", f". {CI}/parts.sh", f"begin_parts {tmp_path}/parts", text)
    surroundings = {k: v for k, v in os.environ.items() if k != "RESHARDCTL_PARTS"}
    return subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60, check=False,
        cwd=tmp_path, env=surroundings,
    )


def test_each_part_is_named_and_noted(tmp_path: Path) -> None:
    done = ran(tmp_path, 'part "Lint" echo linted\npart "Types" true\nprint_parts')
    assert (done.returncode, done.stderr) == (0, "")
    assert "=== Lint\nlinted\n" in done.stdout
    assert [line.split("  ")[-1] for line in done.stdout.splitlines()[-2:]] == ["Lint", "Types"]


def test_a_script_within_notes_its_parts_in_the_same_table(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.write_text(f". {CI}/parts.sh\nbegin_parts other\npart Inner true\nprint_parts\n")
    done = ran(tmp_path, "bash inner\npart Outer true\nprint_parts")
    assert done.stdout.count("Inner") == 2
    assert done.stdout.count("Seconds of each part") == 1


def test_a_part_that_comes_too_late_is_left_out_and_said_so(tmp_path: Path) -> None:
    done = ran(tmp_path, """
    part_in_time 1 Early echo early
    RESHARDCTL_BEGAN=$((RESHARDCTL_BEGAN - 61))
    part_in_time 1 Late echo late
    print_parts
    """)
    assert (done.returncode, done.stderr) == (0, "")
    assert "=== Early\nearly\n" in done.stdout and "\nlate\n" not in done.stdout
    assert "=== Late: LEFT OUT, as 1 minutes are gone" in done.stdout
    assert "  left out  Late\n" in done.stdout.partition("Seconds of each part")[2]


def test_two_side_by_side_both_run(tmp_path: Path) -> None:
    """Each waits for the other, so neither may wait for the other's end."""
    text = """
    first() { mkfifo there; part First cat there; }
    second() { until [ -p there ]; do sleep 0.05; done; part Second sh -c 'echo met >there'; }
    side_by_side first second
    echo after
    """
    done = ran(tmp_path, text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.index("met") < done.stdout.index("=== Second") < done.stdout.index("after")


def test_a_failure_on_either_side_ends_the_script(tmp_path: Path) -> None:
    for lanes in ("bad good", "good bad"):
        functions = "good() { part Good true; }; bad() { part Bad false; echo never; }"
        done = ran(tmp_path, f"{functions}\nside_by_side {lanes}\necho after")
        assert done.returncode == 1
        assert "=== Good" in done.stdout
        assert "never" not in done.stdout
        assert "after" not in done.stdout


PIP = """#!/bin/sh
case "$*" in *dev.lock*)
echo 'Collecting moto==5.1 (from -r dev.lock)'
echo '  Downloading moto-5.1-py3-none-any.whl (6 MB)'
echo 'Collecting boto3==1.40 (from -r dev.lock)'
echo 'Installing collected packages: moto, boto3'
exit $FAILS ;; esac
"""


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("fails", [0, 1])
def test_who_waits_for_the_environment_sees_what_is_done(
    tmp_path: Path, terminal: bool, fails: int
) -> None:
    lock, python = tmp_path / "scripts/requirements/dev.lock", tmp_path / ".venv/bin/python"
    for path, text in ((lock, "boto3==1.40 \\\n  --hash=x\nmoto==5.1\n"), (python, PIP)):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    python.chmod(0o755)
    (tmp_path / "pyproject.toml").touch()
    script = f'set -euo pipefail; . {ENV}; make_environment "{tmp_path}"; echo made'
    ours, theirs = pty.openpty()
    with (tmp_path / "said").open("wb+") as said:
        done = subprocess.run(
            ["bash", "-c", script], env={**os.environ, "FAILS": str(fails)}, check=False,
            stdout=subprocess.PIPE, stderr=theirs if terminal else said, timeout=60,
        )
        said.seek(0)
        told = written_to(ours, theirs) or said.read().decode()
    assert done.stdout == (b"" if fails else b"made\n")
    assert "2 packages" in told and "  installing what was downloaded ..." in told
    assert ("downloading 1 of 2: moto==5.1\r" in told) is terminal
    assert ("is a package index reachable?" in told) is bool(fails)
