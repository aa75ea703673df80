"""How long `--help`, a completion and an inspection take, beside an empty Python and boto3."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from scripts.bench.targets import record

RUNS = 15
INSPECT = "reshardctl inspect snapshot:FILE"
IMPORT = "python -c 'import reshardctl'"
COMPLETION = "reshardctl ins<Tab>"
TAB = {
    "_RESHARDCTL_COMPLETE": "complete_bash", "COMP_WORDS": "reshardctl ins", "COMP_CWORD": "1",
}  # fmt: skip
SNAPSHOT = Path("tests/golden/files-0.2/kcl/stream.snapshot").absolute()


def run(scale: int, folder: Path) -> None:
    """Print medians of wall time and processor time, in turns so that all meet the same load."""
    command = Path(sys.executable).with_name("reshardctl")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import boto3'": [sys.executable, "-c", "import boto3"],
        IMPORT: [sys.executable, "-c", "import reshardctl"],
        "reshardctl --help": [str(command), "--help"],
        COMPLETION: [str(command)],
        INSPECT: [str(command), "inspect", f"snapshot:{SNAPSHOT}", "--fail-on", "never"],
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(RUNS if scale == 1 else 2):
        for name, words in commands.items():
            taken[name].append(_timed(words, folder, TAB if name == COMPLETION else {}))
    print(f"start-up, median of {len(taken['python -c pass'])} runs")
    for name, times in taken.items():
        wall, cpu = (1000 * median(column) for column in zip(*times, strict=True))
        print(f"  {name:40}{wall:7.0f} ms{cpu:7.0f} ms CPU")
    ours, boto, tab, imported, empty = (
        median(t[1] for t in taken[n]) for n in (
            "reshardctl --help", "python -c 'import boto3'", COMPLETION, IMPORT, "python -c pass"
        )
    )
    print(f"  {ours / boto:.2f} × import boto3, by CPU")
    record("`reshardctl --help`, CPU", 1000 * ours, "ms", 60)
    record("a completion, CPU", 1000 * tab, "ms", 80)
    record("`import reshardctl`, CPU above an empty Python", 1000 * (imported - empty), "ms", 15)
    record("`reshardctl --help`, CPU", 1000 * ours, "ms", None, rival="`import boto3`",
           theirs=1000 * boto)  # fmt: skip
    walls = [1000 * wall for wall, _ in taken[INSPECT]]
    record("`inspect snapshot:FILE`, wall", median(walls), "ms", 180)


def _timed(words: list[str], folder: Path, more: Mapping[str, str]) -> tuple[float, float]:
    """Wall and processor seconds. The exit status must be 0. more: of the environment."""
    began = time.monotonic()
    child = subprocess.Popen(  # noqa: S603
        words, cwd=folder, stdout=subprocess.DEVNULL, env={**os.environ, **more}
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, words)
    return wall, usage.ru_utime + usage.ru_stime
