"""Texts that Spark and the connectors write into every checkpoint."""

from __future__ import annotations

from reshardctl.consumers.spark.positions import KINDS

PLAIN = frozenset(KINDS | {"metadata", "offsets", "commits", "sources", "state"})
