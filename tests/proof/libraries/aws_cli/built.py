"""Where tests/proof/libraries/aws_cli/build leaves the AWS CLI, and whether it is there."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = HERE / "target" / "bin" / "aws"


def missing() -> str | None:
    """What keeps the AWS CLI from running here; None when nothing does."""
    if PROGRAM.exists():
        return None
    return "the AWS CLI is not installed apart; tests/proof/libraries/aws_cli/build does it"
