"""The libraries that reshardctl knows: one folder each, one line here."""

from __future__ import annotations

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.kcl import Kcl
from reshardctl.consumers.kinsumer import Kinsumer
from reshardctl.consumers.quickwit import Quickwit
from reshardctl.locator import Locator

CONSUMERS: dict[str, Consumer] = {
    "kcl": Kcl(),
    "kinsumer": Kinsumer(),
    "quickwit": Quickwit(),
}


def consumer_of(place: Locator) -> Consumer:
    """The consumer that a locator names, told those of its options that decide how it reads."""
    return CONSUMERS[place.consumer].bound(place.options)
