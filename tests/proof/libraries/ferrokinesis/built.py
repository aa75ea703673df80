"""Where tests/proof/libraries/ferrokinesis/build leaves the emulator, and whether it is there."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = HERE / "target" / "release" / "second-opinion"


def missing() -> str | None:
    """What keeps the emulator from running here; None when nothing does."""
    if PROGRAM.exists():
        return None
    return "ferrokinesis is not built; tests/proof/libraries/ferrokinesis/build does it, with cargo"
