"""Where npm leaves the emulator, and whether it is there."""

from __future__ import annotations

import shutil
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE / "node_modules" / "kinesis-local"


def missing() -> str | None:
    """What keeps the emulator from running here; None when nothing does."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if not (PACKAGE / "main.js").exists():
        return "kinesis-local is not installed; tests/proof/libraries/run does it (npm ci)"
    return None
