"""`explain`: one shard's life, its position, and what the next start does with it."""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.survey import survey
from reshardctl.commands.target import Selection
from reshardctl.commands.targets.named import one
from reshardctl.render.explanation import explain as explained


def explain(
    shard: str, consumer: str, selection: Selection, observer: Observer = SILENT
) -> Iterable[str]:
    """Lines on a shard, named by its number or its id, and one consumer. Writes nothing."""
    target = one(consumer, selection, observer)
    report = survey(
        target.ports(), target.stream, target.locator, target.repair_options, target.probe
    )
    return explained(report, shard)
