"""Stores in which a consumer can be switched off, and that say so."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.consumers.quickwit.switching import Switch
from reshardctl.model import Image


def switch_of(consumer: Consumer, images: Sequence[Image]) -> Switch | None:
    """How it is switched; `None` where these rows say nothing of it, or it would not matter."""
    if isinstance(consumer, Quickwit):
        return consumer.switch(images)
    return None
