"""`graph`: draws a stream alone, one consumer's positions in it, or several.

`--shards`, `--only-bad` and `--since` say which shards are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from msgspec import Struct

from reshardctl.commands.connect import listed
from reshardctl.commands.inspect import roundup
from reshardctl.commands.named import several, stream_alone, stream_in_files
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.survey import Looking, survey
from reshardctl.commands.target import FilesSelection, Target
from reshardctl.config.nearest import nearest
from reshardctl.errors import UsageError, command_line
from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model.phrases import listed as listed_names
from reshardctl.model.shards import parts_of, select
from reshardctl.model.times import When, instant, parse_when
from reshardctl.render.formats import Format
from reshardctl.render.graph.chart import DrawnShards
from reshardctl.render.graph.drawings import TogetherDocument, drawing, drawing_of_several
from reshardctl.snapshot.resolve import resharded_at


class AskedShards(Struct, frozen=True):
    """The options, spelled correctly.

    parts: the parts of `--shards`, not yet compared with a stream.
    """

    parts: tuple[str, ...]
    only_bad: bool
    since: When | None

    @classmethod
    def read(cls, shards: Sequence[str], only_bad: bool, since: str | None) -> AskedShards:
        """Raises UsageError for a text that names no shards or no time."""
        when = None if since is None else parse_when(since, "--since")
        return cls(parts_of(shards), only_bad, when)

    def on(self, lineage: Lineage, now: float, *, judged: bool = True) -> DrawnShards:
        """The selected shards of a stream at `now` (Unix seconds). judged: with a consumer.

        Raises UsageError for a shard that is not listed, or a time that is not before `now`.
        """
        if self.only_bad and not judged:
            raise UsageError(
                "--only-bad selects by a consumer's findings, and no consumer is drawn",
                "name a CONSUMER, or leave out --only-bad",
            )
        shards, unknown = select(self.parts, lineage)
        if unknown:
            raise UsageError(
                f"--shards {listed_names(unknown, 5)}: not listed in {lineage.stream.name}",
                "the same without --shards draws what is there",
            )
        return DrawnShards(tuple(shards), self.only_bad, self._since(lineage, now))

    def _since(self, lineage: Lineage, now: float) -> float | None:
        if self.since is None:
            return None
        if self.since.reshard:
            try:
                return resharded_at(lineage)
            except UsageError as error:
                raise UsageError(
                    f"--since {error.what}", "give a time: --since 2026-09-22T09:14:00Z or -90m"
                ) from None
        at = self.since.at
        moment = float(floor(now - (self.since.ago or 0.0))) if at is None else at
        if moment >= now:
            raise UsageError(
                f"--since {self.since.text}: the picture ends at {instant(now)}",
                "give an earlier time, as in --since -90m",
            )
        return moment


@dataclass(frozen=True, slots=True)
class GraphRequest(FilesSelection):
    """Which stream to draw, and whose positions in it."""

    consumers: Sequence[str] = ()
    """Locators, names or a stream in reshardctl.toml, or `snapshot:FILE`; none draws the shards
    alone, or every consumer of the file."""
    format: str = "text"
    """`text`, `dot`, `mermaid`, `graphml`, `json`, `svg` or `html`."""
    only_bad: bool = False
    """Whether only shards are drawn that an error or a warning names, or that have a loss."""
    since: str | None = None
    """Only shards that were open at this time or later, as in `2026-09-22T09:14:00Z`, `-90m` or
    `@reshard`, where the picture begins; none means from before the first event."""
    width: int | None = None
    """Columns that a line of `text` may have; none means as many as it needs."""


class Graph(Struct, frozen=True):
    """A picture. exit: not OK if a consumer is missing from it."""

    text: str
    exit: Exit = Exit.OK


def graph(request: GraphRequest, observer: Observer = SILENT) -> Graph:
    """Draws the shards of one stream. Writes nothing.

    Raises UsageError for a shard that the stream does not list, and where nothing would be drawn.
    """
    form, consumers = Format(request.format), request.consumers
    drawn = AskedShards.read(request.selectors, request.only_bad, request.since)
    files = bool(request.file_words)
    if not consumers and (files or request.stream is not None or not _configured(request)):
        return Graph(_alone(request, drawn, observer))
    if len(consumers) == 1 and (alone := stream_alone(consumers[0], request)):
        shown = drawing(*alone, selection=drawn.on(*alone, judged=False), width=request.width)
        return Graph(form.write(shown))
    targets = several(consumers, request, observer)
    if len(targets) > 1:
        return _together(request, targets, drawn, observer)
    target = targets[0]
    report = survey(
        target.ports(), target.stream, target.locator, target.repair_options, target.probe
    )
    lineage, now = report.snapshot.lineage, report.snapshot.now
    shown = drawing(lineage, now, report, drawn.on(lineage, now), request.width)
    return Graph(form.write(shown))


def _configured(selection: FilesSelection) -> bool:
    return selection.config is not None or nearest() is not None


def _alone(request: GraphRequest, drawn: AskedShards, observer: Observer) -> str:
    if request.probe:
        raise UsageError(
            "--probe reads what a consumer has yet to read", "name a CONSUMER, or leave it"
        )
    if request.file_words:
        lineage, now = stream_in_files(request, observer)
    elif request.stream is None:
        raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
    else:
        lineage, now = listed(request.account, request.stream, observer)
    selection = drawn.on(lineage, now, judged=False)
    shown = drawing(lineage, now, selection=selection, width=request.width)
    return Format(request.format).write(shown)


def _together(
    request: GraphRequest, targets: Sequence[Target], drawn: AskedShards, observer: Observer
) -> Graph:
    form = Format(request.format)
    known = [form for form in Format if TogetherDocument.has(form.view)]
    if form not in known:
        raise UsageError(
            f"--format {form} has room for one consumer, not for {len(targets)}",
            f"name one, or draw all of them as {', '.join(known)}",
        )
    streams = dict.fromkeys(
        target.entry.stream.name for target in targets if target.entry is not None
    )
    if len(streams) > 1:
        raise UsageError(
            f"a picture is of one stream, and these are {len(streams)}: {', '.join(streams)}",
            f"name one of them: {command_line('reshardctl', 'graph', next(iter(streams)))}",
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
    picture = drawing_of_several(lineage, now, reports, drawn.on(lineage, now), request.width)
    return Graph(form.write(picture), shown.exit)
