"""`reshardctl demo`, run as an operator runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reshardctl.demo import servers
from reshardctl.demo.servers import child_environment, seeded
from reshardctl.demo.show import Command, _check, _run
from reshardctl.errors import CannotTell
from reshardctl.exit import Exit
from tests.whole.demo.surroundings import ASTRAY

LIMIT = 600
"""Seconds; a safety net, not a measurement."""


@dataclass(frozen=True)
class Ran:
    """A finished demo and the folder that was all it knew of the machine."""

    run: subprocess.CompletedProcess[str]
    place: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Run it in an environment that would lead astray, with a folder of its own for scraps."""
    place = tmp_path_factory.mktemp("demo")
    scraps = place / "scraps"
    scraps.mkdir()
    astray = ASTRAY | {"HOME": str(place), "TMPDIR": str(scraps)}
    run = subprocess.run(
        [sys.executable, "-m", "reshardctl", "demo"],
        env=os.environ | astray, cwd=place, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    return Ran(run, place)


def test_it_finds_fixes_and_verifies(demo: Ran) -> None:
    run = demo.run
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    verbs = re.findall(r"^\$ reshardctl (\w+)", run.stdout, re.M)
    assert verbs == ["inspect", "fix", "fix", "inspect", "undo"]
    # The codes that every verb's documentation gives for these states.
    assert re.findall(r"^# exit (\d+)$", run.stdout, re.M) == ["1", "1", "0", "0", "1"]
    before, plan, fixed, after, undo = re.split(r"^\$ ", run.stdout, flags=re.M)[1:]
    assert "RSH203" in before
    assert "child-not-started" in before
    assert "leases of 4, 5, in one transaction" in plan
    assert "TRIM_HORIZON" in plan
    assert re.search(r"^  reshardctl undo orders\.jsonl( |$)", fixed, re.M), "short enough to type"
    assert "RSH203" not in after
    assert "RSH203" in undo
    assert "went as it should" in run.stdout


def test_it_leaves_nothing_behind_and_names_no_place_of_its_own(demo: Ran) -> None:
    assert str(demo.place) not in demo.run.stdout + demo.run.stderr
    assert sorted(path.name for path in demo.place.rglob("*")) == ["scraps"]


def test_without_moto_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['moto'] = None; from reshardctl.cli.app import run; "
        "sys.exit(run(['demo']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT,
        check=False,
    )  # fmt: skip
    assert run.returncode == Exit.USAGE
    assert run.stdout == ""
    assert "pip install '.[demo]'" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("code", "text"), [(3, "RSH203"), (0, "RSH203"), (1, "No module named reshardctl")]
)
def test_an_unexpected_end_is_told(code: int, text: str) -> None:
    command = Command("?", ("inspect", "kcl://app"), Exit.FINDINGS, "RSH203")
    with pytest.raises(CannotTell, match="reshardctl inspect kcl://app"):
        _check(command, code, text)


def test_a_command_is_shown_as_it_ends(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = Command("?", ("rule", "RSH999"), Exit.USAGE)
    code, text = _run(command, tmp_path, dict(os.environ))
    assert code == Exit.USAGE
    assert "RSH999" in text
    assert text in capfd.readouterr().out


DAY = 86400


def shown(tmp_path: Path, *argv: str) -> Any:
    """What a command says of the demo that has stood for a day."""
    with seeded(time.time(), servers.AGE + DAY) as endpoints:
        surroundings = child_environment(os.environ, endpoints)
        done = subprocess.run(
            [sys.executable, "-m", "reshardctl", *argv, "--format", "json"],
            env=surroundings | {"RESHARDCTL_STATE_DIR": str(tmp_path)}, cwd=tmp_path,
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


def test_a_day_later_the_plan_is_the_same(tmp_path: Path) -> None:
    """Of `reshardctl demo --serve`: the same finding, the same rows to write."""
    where = (f"kcl://{servers.TABLE}", "--stream", servers.STREAM)
    report = shown(tmp_path, "fix", *where, "--dry-run")
    grave = [f["code"] for f in report["findings"] if f["severity"] != "info"]
    assert grave == ["RSH203"]
    changes = report["decision"]["changes"]
    assert [(one["shard"], one["action"], one["after"]) for one in changes] == [
        ("shardId-000000000004", "create", "TRIM_HORIZON"),
        ("shardId-000000000005", "create", "TRIM_HORIZON"),
    ]
