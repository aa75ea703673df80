"""All scenes."""

from __future__ import annotations

from tests.proof.libraries.kinesis_local import listing, reading, resharding
from tests.proof.libraries.kinesis_local.scene import SCENES

__all__ = ["SCENES", "listing", "reading", "resharding"]
