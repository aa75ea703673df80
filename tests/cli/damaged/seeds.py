"""Which seeds are tried: a few at every turn, many with `scripts/test long`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

FEW, MANY = 2, 30


def seeded(states: Sequence[Any]) -> list[Any]:
    """Parameters `(state, seeds)`: each state with its few seeds, and, `long`, with the others."""
    return [
        *(pytest.param(state, range(FEW), id=_name(state)) for state in states),
        *(pytest.param(state, range(FEW, MANY), id=f"{_name(state)}-many", marks=pytest.mark.long)
          for state in states),
    ]  # fmt: skip


def _name(state: Any) -> str:
    return "-".join(str(part) for part in state if part)
