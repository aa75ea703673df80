"""The libraries that reshardctl knows: one folder each, one line here."""

from __future__ import annotations

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.kcl import Kcl

CONSUMERS: dict[str, Consumer] = {
    "kcl": Kcl(),
}
