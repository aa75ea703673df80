"""`export`: a consumer's positions as data."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from reshardctl.commands.named import one
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.survey import survey
from reshardctl.commands.target import FilesSelection, require_all_shards
from reshardctl.planning.policy import LOSSLESS
from reshardctl.snapshot.positions import ExportedPositions, exported_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest(FilesSelection):
    """Whose positions to export."""

    consumer: str
    """A locator, a name in reshardctl.toml, or `snapshot:FILE`."""


def export(request: ExportRequest, observer: Observer = SILENT) -> ExportedPositions:
    """Reads the position of every shard. Writes nothing.

    Raises UsageError, WrongStream and EmptyCheckpoint as `inspect` does.
    """
    require_all_shards(request, "the positions of all shards are exported")
    target = one(request.consumer, request, observer)
    options = replace(target.repair_options, policy=LOSSLESS)
    report = survey(target.ports(), target.stream, target.locator, options, target.probe)
    return exported_of(report.snapshot)
