"""`explain`: each shard's life, its position, and what the next start does with it."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from reshardctl.codec.argv import words
from reshardctl.commands.named import one
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.requests import REACHED
from reshardctl.commands.survey import survey
from reshardctl.commands.target import FilesSelection, require_all_shards
from reshardctl.consumers.locator import looks_like_one
from reshardctl.errors import UsageError
from reshardctl.model.shards import parts_of, select
from reshardctl.render.words import command
from reshardctl.report.status import Explanation, statuses


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainRequest(FilesSelection):
    """Which shards to explain, and for which consumer."""

    shard: str
    """Numbers, ranges and ids, as in `4`, `4,5` or `7-9`."""
    consumer: str
    """A locator, a name in reshardctl.toml, or `snapshot:FILE`."""


def explain(request: ExplainRequest, observer: Observer = SILENT) -> Explanation:
    """Judges the consumer's next start. Writes nothing.

    Raises UsageError for a shard that neither the stream nor the store knows.
    """
    if looks_like_one(request.shard) and not looks_like_one(request.consumer):
        typed = "".join(f" {quote(word)}" for word in words(request, ("--stream", *REACHED)))
        raise UsageError(
            f"{request.shard!r} is a consumer, and the consumer comes first",
            f"reshardctl explain {quote(request.shard)} {quote(request.consumer)}{typed}",
        )
    require_all_shards(request, "the shards to explain come after the consumer")
    parts = parts_of([request.shard], "SHARD")
    target = one(request.consumer, request, observer)
    report = survey(
        target.ports(), target.stream, target.locator, target.repair_options, target.probe
    )
    lineage = report.snapshot.lineage
    shards, unknown = select(parts, {*lineage, *report.positions})
    if unknown:
        raise UsageError(
            f"{unknown[0]!r} is not listed in {lineage.stream.name}, and no position names it",
            f"{' '.join(command('status', *target.argv))}   # lists the shards",
        )
    rows = {row.shard: row for row in statuses(report, report.findings)}
    return Explanation(report, tuple(shards), rows, target.suggested)
