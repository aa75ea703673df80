"""All scenes."""

from __future__ import annotations

from tests.proof.libraries.second_opinion import (
    listing,
    positions,
    reading,
    resharding,
    streams,
)
from tests.proof.libraries.second_opinion.scene import SCENES

__all__ = ["SCENES", "listing", "positions", "reading", "resharding", "streams"]
