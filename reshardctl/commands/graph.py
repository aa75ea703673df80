"""`graph`: draws a stream alone, one consumer's positions in it, or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reshardctl.commands.connect import listed
from reshardctl.commands.inspect_many import roundup
from reshardctl.commands.inspect_modes import Looking
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.survey import survey
from reshardctl.commands.target import Selection, Target
from reshardctl.commands.targets import snapshot as offline
from reshardctl.commands.targets.named import several
from reshardctl.config import DEFAULT
from reshardctl.errors import UsageError
from reshardctl.exit import Exit
from reshardctl.render.graph import draw
from reshardctl.render.graph.several import SEVERAL, draw_several


@dataclass(frozen=True, slots=True)
class GraphRequest(Selection):
    """Which stream to draw, and whose positions in it."""

    consumers: Sequence[str] = ()
    """Locators, names or a stream in reshardctl.toml, or `snapshot:FILE`; none draws the shards
    alone, or every consumer of the file."""
    format: str = "text"
    """`text`, `dot`, `mermaid`, `graphml`, `json`, `svg` or `html`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A picture. exit: not OK if a consumer is missing from it."""

    text: str
    exit: Exit = Exit.OK


def graph(request: GraphRequest, observer: Observer = SILENT) -> Graph:
    """Draws the shards of one stream. Writes nothing."""
    form, consumers = request.format, request.consumers
    if not consumers and (request.stream is not None or not _configured(request)):
        return Graph(_alone(form, request, observer))
    if len(consumers) == 1 and (alone := offline.stream_alone(consumers[0], request)):
        return Graph(draw(form, *alone))
    targets = several(consumers, request, observer)
    if len(targets) > 1:
        return _together(request, targets, observer)
    target = targets[0]
    report = survey(
        target.ports(), target.stream, target.locator, target.repair_options, target.probe
    )
    return Graph(draw(form, report.snapshot.lineage, report.snapshot.now, report))


def _configured(selection: Selection) -> bool:
    return selection.config is not None or DEFAULT.exists()


def _alone(form: str, selection: Selection, observer: Observer) -> str:
    if selection.probe:
        raise UsageError(
            "--probe reads what a consumer has yet to read", "name a CONSUMER, or leave it"
        )
    if selection.stream is None:
        raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
    return draw(form, *listed(selection.account, selection.stream, observer))


def _together(request: GraphRequest, targets: Sequence[Target], observer: Observer) -> Graph:
    form = request.format
    if form not in SEVERAL:
        raise UsageError(
            f"--format {form} has room for one consumer, not for {len(targets)}",
            f"name one, or draw all of them as {', '.join(SEVERAL)}",
        )
    streams = dict.fromkeys(one.entry.stream.name for one in targets if one.entry is not None)
    if len(streams) > 1:
        raise UsageError(
            f"a picture is of one stream, and these are {len(streams)}: {', '.join(streams)}",
            f"name one of them: reshardctl graph {next(iter(streams))}",
        )
    shown = roundup(targets, request, Looking(), None, request.consumers, observer)
    reports = [(entry.name, entry.report) for entry in shown.entries if entry.report is not None]
    failures = [entry for entry in shown.entries if entry.failure is not None]
    for entry in failures:
        assert entry.failure is not None
        if not reports:
            raise entry.failure
        observer.note(f"{entry.name} is not in the picture: {entry.failure.what}")
    lineage = reports[0][1].snapshot.lineage
    now = max(report.snapshot.now for _, report in reports)
    return Graph(draw_several(form, lineage, now, reports), shown.exit)
