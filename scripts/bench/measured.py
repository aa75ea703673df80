"""Runs one stage of a benchmark in a process of its own, for its time and its peak memory."""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path

MB = 1024 * 1024
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """cpu: seconds of processor time; peak: MB of resident memory above the imports."""

    cpu: float
    peak: float


def cost_of(stage: Callable[..., float | None], *arguments: object, runs: int = 1) -> Cost:
    """The least of `runs` runs, each in a fresh process.

    stage: a module-level function of (str or int) arguments. It returns its own processor time,
    or None to have all of it counted.
    """
    place = [stage.__module__, stage.__name__, json.dumps(arguments)]
    costs = [_run([sys.executable, "-m", __name__, *place]) for _ in range(runs)]
    return Cost(min(cost.cpu for cost in costs), min(cost.peak for cost in costs))


def _run(command: list[str]) -> Cost:
    # The interpreter itself, with names of this program's own.
    done = subprocess.run(  # noqa: S603
        command, check=True, stdout=subprocess.PIPE, text=True
    )
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


class Lines:
    """The lines of a file; `spent` is the processor time that reading them took."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self.spent = 0.0

    def __iter__(self) -> Iterator[str]:
        with self._path.open(encoding="ascii") as lines:
            while True:
                began = time.process_time()
                line = lines.readline()
                self.spent += time.process_time() - began
                if not line:
                    return
                yield line


def growth(small: float, large: float, factor: float) -> float:
    """The exponent e for which the cost grew as n^e."""
    return log(large / small) / log(factor)


def _peak() -> float:
    """MB. Where there is /proc it is asked: getrusage starts with the parent's figure."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT / MB


def _main(module: str, name: str, arguments: str) -> None:
    stage = getattr(importlib.import_module(module), name)
    before, began = _peak(), time.process_time()
    own = stage(*json.loads(arguments))
    cpu = time.process_time() - began if own is None else own
    print(json.dumps({"cpu": cpu, "peak": max(0.0, _peak() - before)}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
