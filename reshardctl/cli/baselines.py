"""`--baseline FILE`: an earlier report, read from disk."""

from __future__ import annotations

from pathlib import Path

from reshardctl.baseline import MAKE, Baseline, parsed
from reshardctl.errors import UsageError


def baseline_of(path: Path) -> Baseline:
    """What that report knew. UsageError for a file that is none."""
    try:
        return parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", MAKE) from None
