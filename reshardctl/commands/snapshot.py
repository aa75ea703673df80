"""`snapshot`: lists once, reads every consumer, and describes the file.

Stream and rows may come from files that the AWS CLI printed, each in place of a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import join

from msgspec.structs import replace

from reshardctl.codec.argv import words
from reshardctl.commands.configured import names
from reshardctl.commands.connect import listed, place_of
from reshardctl.commands.named import is_snapshot, several
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.printed import saved_of
from reshardctl.commands.requests import REACHED
from reshardctl.commands.target import FilesSelection, Target, require_all_shards
from reshardctl.consumers.locator import looks_like_one
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import EmptyCheckpoint, NoStore, UsageError, command_line
from reshardctl.lineage import Lineage
from reshardctl.planning.policy import LOSSLESS
from reshardctl.report.report import make, own, places_to_probe
from reshardctl.snapshot import Overlaid, probed, redaction, take
from reshardctl.snapshot.file import SavedSnapshot


@dataclass(frozen=True, slots=True)
class SnapshotRequest(FilesSelection):
    """Whose positions to save with their stream."""

    consumers: Sequence[str] = ()
    """Locators, or names of consumers or of a stream in reshardctl.toml; none saves the stream
    alone."""
    redact: bool = False
    """Whether names, accounts and owners are replaced."""

    @property
    def of_files(self) -> bool:
        """Whether everything comes from files, and the time too."""
        listed = bool(self.listing) or self.files.summary is not None
        return listed and (bool(self.files.rows) or not self.consumers)


def snapshot(request: SnapshotRequest, observer: Observer = SILENT) -> SavedSnapshot:
    """Reads a stream and its consumers now. Writes nothing.

    Raises UsageError for consumers that one file cannot tell apart, or of several streams.
    """
    saved = _saved(request, observer)
    return _redacted(saved) if request.redact else saved


def _saved(request: SnapshotRequest, observer: Observer) -> SavedSnapshot:
    if wrong := [text for text in request.consumers if is_snapshot(text)]:
        raise UsageError(f"{wrong[0]} is a snapshot already", "name the consumer itself")
    if request.shards or request.file_words:
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
        try:
            snapshots.append(_taken(target, snapshots[0].lineage if snapshots else None))
        except NoStore as error:
            others = [other.argv[0] for other in targets if other is not target]
            if others:
                argv = (*others, *words(request, ("--stream", "--config", *REACHED)))
                again = command_line("reshardctl", "snapshot", *argv)
                error.next = f"{error.next}   # or save the others: {again} -o FILE"
            raise
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
    if len(request.consumers) > 1 or (request.files.rows and not request.consumers):
        raise UsageError(
            f"{request.file_words[0]} is of one consumer, and {len(request.consumers)} are named",
            "reshardctl snapshot CONSUMER --shards FILE --summary FILE --rows FILE -o FILE",
        )
    require_all_shards(request, "a snapshot is of all shards")
    locator = place_of(request.consumers[0], observer) if request.consumers else None
    return saved_of(request, locator, observer, whole=False)


def _redacted(saved: SavedSnapshot) -> SavedSnapshot:
    lineage = redaction.redacted_lineage(saved.lineage)
    names = redaction.Redaction(saved.lineage.stream.name)
    consumers = tuple(names.snapshot(snapshot, lineage) for snapshot in saved.consumers)
    return SavedSnapshot(saved.taken, lineage, consumers, redacted=True)
