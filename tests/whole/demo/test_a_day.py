"""`reshardctl demo --serve` a day after it began: the same finding, the same rows to write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from reshardctl.demo import servers
from reshardctl.demo.servers import child_environment, seeded

DAY = 86400
LIMIT = 300
"""Seconds; a safety net, not a measurement."""


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
    where = (f"kcl://{servers.TABLE}", "--stream", servers.STREAM)
    report = shown(tmp_path, "fix", *where, "--dry-run")
    grave = [f["code"] for f in report["findings"] if f["severity"] != "info"]
    assert grave == ["RSH203"]
    changes = report["decision"]["changes"]
    assert [(one["shard"], one["action"], one["after"]) for one in changes] == [
        ("shardId-000000000004", "create", "TRIM_HORIZON"),
        ("shardId-000000000005", "create", "TRIM_HORIZON"),
    ]
