"""All scenes."""

from __future__ import annotations

from tests.interop.kinesis_local import listing, reading, resharding
from tests.interop.kinesis_local.scene import SCENES

__all__ = ["SCENES", "listing", "reading", "resharding"]
