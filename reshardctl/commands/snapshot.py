"""`snapshot`: lists once, reads every consumer, and describes the file.

Stream and rows may come from files that the AWS CLI printed, each in place of a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import join

from reshardctl.codec.argv import given, option, words
from reshardctl.commands.configured import names
from reshardctl.commands.connect import kinesis_of, listed, place_of, ports_of
from reshardctl.commands.connect import now as time_now
from reshardctl.commands.named import is_snapshot, several
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.target import Selection, Target
from reshardctl.consumers.locator import Locator, looks_like_one
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import EmptyCheckpoint, UsageError, command_line
from reshardctl.lineage import Lineage
from reshardctl.model import Image, TableShape
from reshardctl.model.times import parse_instant
from reshardctl.planning.policy import LOSSLESS
from reshardctl.report.report import make, own, places_to_probe
from reshardctl.snapshot import Overlaid, probed, redaction, take
from reshardctl.snapshot.file import SavedSnapshot
from reshardctl.snapshot.printed import Printed, images_of, lineage_of
from reshardctl.snapshot.take import FrozenStore, ListedStream
from reshardctl.stores.base import Store
from reshardctl.stores.given_file import content

PRINTED = frozenset({"--shards", "--summary", "--rows", "--taken"})
"""The options that name what the AWS CLI printed."""


@dataclass(frozen=True, slots=True)
class SnapshotRequest(Selection):
    """Whose positions to save with their stream."""

    consumers: Sequence[str] = ()
    """Locators, or names of consumers or of a stream in reshardctl.toml; none saves the stream
    alone."""
    redact: bool = False
    """Whether names, accounts and owners are replaced."""
    shards: Sequence[Path] = option("--shards", ())
    """What `aws kinesis list-shards` or `describe-stream` printed, in place of the stream."""
    summary: Path | None = option("--summary")
    """What `aws kinesis describe-stream-summary` printed."""
    rows: Sequence[str] = option("--rows", ())
    """What `aws dynamodb scan` printed, in place of the table: a file, or `TABLE=FILE`."""
    taken: str | None = option("--taken")
    """When the files were made; when the newest was written, unless given."""

    @property
    def of_files(self) -> bool:
        """Whether everything comes from files, and the time too."""
        listed = bool(self.shards) or self.summary is not None
        return listed and (bool(self.rows) or not self.consumers)


def snapshot(request: SnapshotRequest, observer: Observer = SILENT) -> SavedSnapshot:
    """Reads a stream and its consumers now. Writes nothing.

    Raises UsageError for consumers that one file cannot tell apart, or of several streams.
    """
    saved = _saved(request, observer)
    return _redacted(saved) if request.redact else saved


def _saved(request: SnapshotRequest, observer: Observer) -> SavedSnapshot:
    if wrong := [text for text in request.consumers if is_snapshot(text)]:
        raise UsageError(f"{wrong[0]} is a snapshot already", "name the consumer itself")
    if given(request) & PRINTED:
        return _printed(request, observer)
    if not request.consumers and request.stream is None:
        raise UsageError(
            "nothing is named to save",
            "reshardctl snapshot CONSUMER --stream STREAM -o FILE; no CONSUMER: the stream alone",
        )
    if not request.consumers:
        lineage, now = listed(request.account, request.stream or "", observer)
        return SavedSnapshot(now, lineage)
    _consumers_first(request)
    targets = several(request.consumers, request, observer)
    held = [target.locator.target for target in targets]
    if twice := [name for name in held if held.count(name) > 1]:
        raise UsageError(f"two consumers keep their positions in {twice[0]}", "name it once")
    if len(streams := dict.fromkeys(target.stream for target in targets)) > 1:
        raise UsageError(
            f"the consumers are of several streams: {', '.join(streams)}",
            "save each stream in a file of its own",
        )
    snapshots: list[Snapshot] = []
    for target in targets:
        snapshots.append(_taken(target, snapshots[0].lineage if snapshots else None))
    return SavedSnapshot(snapshots[0].now, snapshots[0].lineage, tuple(snapshots))


def _consumers_first(request: SnapshotRequest) -> None:
    """UsageError with the right command where the stream stands before its consumers."""
    first, *others = request.consumers
    if request.stream is None and not looks_like_one(first) and names(first, request) is None:
        typed = [*others, "--stream", first, *words(request.account)]
        raise UsageError(
            f"{first!r} is no consumer: the stream is named by --stream",
            f"reshardctl snapshot {join(typed)} -o FILE",
        )


def _taken(target: Target, lineage: Lineage | None) -> Snapshot:
    ports = target.ports()
    if lineage is not None:
        ports = replace(ports, kinesis=Overlaid(ports.kinesis, lambda _stream: lineage))
    snapshot = own(take(ports.kinesis, ports.store, target.stream, target.locator, ports.clock))
    if not target.probe:
        return snapshot
    try:
        places = places_to_probe(make(snapshot, replace(target.repair_options, policy=LOSSLESS)))
    except EmptyCheckpoint:
        return snapshot
    return probed(snapshot, ports.kinesis, places)


def _printed(request: SnapshotRequest, observer: Observer) -> SavedSnapshot:
    """One consumer, or the stream alone, of which files show the stream, the rows or both."""
    listing = [*request.shards, *([] if request.summary is None else [request.summary])]
    if len(request.consumers) > 1 or (request.rows and not request.consumers):
        raise UsageError(
            f"{words(request, PRINTED)[0]} is of one consumer, and {len(request.consumers)} are "
            "named",
            "reshardctl snapshot CONSUMER --shards FILE --summary FILE --rows FILE -o FILE",
        )
    if request.probe and listing:
        raise UsageError(
            "--probe reads records of the stream, in whose place files stand", "leave --probe out"
        )
    if request.taken is not None and not request.of_files:
        raise UsageError(
            "--taken is the time of files, and stream or positions are read now",
            "leave --taken out, or name files of both: --shards FILE --summary FILE --rows FILE",
        )
    files = [*listing, *(Path(text.partition("=")[2] or text) for text in request.rows)]
    taken = _taken_at(request, files)
    if listing:
        lineage, now = lineage_of([_read(path) for path in listing]), taken
    elif request.stream is not None:
        alone = not request.consumers
        lineage, now = listed(request.account, request.stream, observer, alone=alone)
    else:
        raise UsageError("no stream is named", "add --shards FILE, or --stream STREAM")
    if not request.consumers:
        return SavedSnapshot(now, lineage)
    locator = place_of(request.consumers[0], observer)
    kept = Snapshot(locator, lineage, (), {"medium": locator.medium}, now)
    if request.rows:
        kept = replace(kept, images=_rows(locator, request.rows))
    arn = lineage.stream.arn
    kinesis = ListedStream(kept) if listing else kinesis_of(request.account, arn, observer)
    if request.rows:
        store: Store = FrozenStore(kept)
    else:
        store, now = ports_of(request.account, locator, observer, arn).store, time_now()
    snapshot = own(take(kinesis, store, request.stream or "", locator, lambda: now))
    return SavedSnapshot(now, lineage, (snapshot,))


def _taken_at(request: SnapshotRequest, files: Sequence[Path]) -> float:
    """Unix seconds. The newest file's, unless given. UsageError for a file that is not there."""
    if request.taken is not None:
        return parse_instant(request.taken, "--taken")
    try:
        return max((path.stat().st_mtime for path in files), default=0.0)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}", "name the files again") from None


def _read(path: Path) -> Printed:
    return Printed(str(path), content(path, "name the file again"))


def _rows(locator: Locator, texts: Sequence[str]) -> tuple[Image, ...]:
    """The rows of the consumer's tables. UsageError if those of one that it needs are not given."""
    if locator.medium != "dynamodb":
        raise UsageError(
            f"--rows: the positions of {locator.text} are in no DynamoDB table",
            "leave --rows out: the store itself is read",
        )
    shapes = locator.spec.tables(locator.target, locator.options)
    beside = consumer_of(locator).side_tables(locator.target)
    names = [*(shape.name for shape in shapes), *(side.name for side in beside)]
    files: dict[str, list[Printed]] = {name: [] for name in names}
    for text in texts:
        named, equals, file = text.partition("=")
        table, path = (named, file) if equals else (names[0], text)
        if table not in files:
            raise UsageError(
                f"--rows {text}: {locator.text} has no table {table}", f"it has {', '.join(files)}"
            )
        files[table].append(_read(Path(path)))
    if missing := [shape.name for shape in shapes if not files[shape.name]]:
        scan = command_line("aws", "dynamodb", "scan", "--table-name", missing[0])
        raise UsageError(
            f"--rows: those of table {missing[0]} are missing",
            f"add --rows {missing[0]}=FILE with the output of: {scan}",
        )
    found = [image for shape in shapes for image in images_of(files[shape.name], shape)]
    for side in beside:
        shape = TableShape(side.name, prefix=f"{side.name}/", hash=side.key)
        if files[side.name]:
            wanted = {shape.image_key(key) for key in side.rows}
            rows = images_of(files[side.name], shape)
            found += [image for image in rows if not wanted or image.key in wanted]
        else:
            why = f"the rows of {side.name} were not given (--rows {side.name}=FILE)"
            found.append(Image(f"{side.name}/", {"unread": {"S": why}}))
    return tuple(found)


def _redacted(saved: SavedSnapshot) -> SavedSnapshot:
    lineage = redaction.redacted_lineage(saved.lineage)
    names = redaction.Redaction(saved.lineage.stream.name)
    consumers = tuple(names.snapshot(snapshot, lineage) for snapshot in saved.consumers)
    return SavedSnapshot(saved.taken, lineage, consumers, redacted=True)
