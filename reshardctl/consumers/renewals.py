"""How long a watch has to be, at least, for its silence to mean anything: one line each."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.kinsumer.liveness import RENEWED

LEAST_WATCH: Mapping[str, float] = {"kinsumer": RENEWED}
"""Consumer → seconds. Others renew often enough for any watch."""
