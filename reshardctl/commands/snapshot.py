"""`snapshot`: lists once, reads every consumer, and describes the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import join

from reshardctl.codec.argv import words
from reshardctl.commands.configured import names
from reshardctl.commands.connect import listed
from reshardctl.commands.named import is_snapshot, one, several
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.target import Selection, Target
from reshardctl.consumers.locator import looks_like_one
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import EmptyCheckpoint, UsageError
from reshardctl.lineage import Lineage
from reshardctl.planning.policy import LOSSLESS
from reshardctl.report.report import make, own, places_to_probe
from reshardctl.snapshot import Overlaid, probed, redaction, take
from reshardctl.snapshot.file import SavedSnapshot


@dataclass(frozen=True, slots=True)
class SnapshotRequest(Selection):
    """Which stream to save, and whose positions with it. `stream` is needed."""

    consumers: Sequence[str] = ()
    """Locators, or names in reshardctl.toml; none saves every consumer that the file has of the
    stream."""
    redact: bool = False
    """Whether names, accounts and owners are replaced."""


def snapshot(request: SnapshotRequest, observer: Observer = SILENT) -> SavedSnapshot:
    """Reads a stream and its consumers now. Writes nothing.

    Raises UsageError for consumers that one file cannot tell apart, and for one in the place of the
    stream.
    """
    stream = request.stream or ""
    if looks_like_one(stream):
        first = next((text for text in request.consumers if not looks_like_one(text)), "STREAM")
        typed = [first, stream, *words(request.account)]
        raise UsageError(
            f"{stream!r} is a consumer, and the stream comes first",
            f"reshardctl snapshot {join(typed)} -o FILE",
        )
    saved = _saved(request.consumers, request, observer)
    return _redacted(saved) if request.redact else saved


def _saved(consumers: Sequence[str], selection: Selection, observer: Observer) -> SavedSnapshot:
    if wrong := [text for text in consumers if is_snapshot(text)]:
        raise UsageError(f"{wrong[0]} is a snapshot already", "name the consumer itself")
    targets = _targets(consumers, selection, observer)
    names = [target.locator.target for target in targets]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two consumers keep their positions in {twice[0]}", "name it once")
    if not targets:
        lineage, now = listed(selection.account, selection.stream or "", observer)
        return SavedSnapshot(now, lineage)
    snapshots: list[Snapshot] = []
    for target in targets:
        snapshots.append(_taken(target, snapshots[0].lineage if snapshots else None))
    return SavedSnapshot(snapshots[0].now, snapshots[0].lineage, tuple(snapshots))


def _targets(consumers: Sequence[str], selection: Selection, observer: Observer) -> list[Target]:
    """The consumers named, or those that are configured for a stream of a configured name."""
    stream = selection.stream or ""
    config = names(stream, selection)
    if config is None or stream not in config.streams:
        return [one(text, selection, observer) for text in consumers]
    targets = several(consumers or (stream,), replace(selection, stream=None), observer)
    for target in targets:
        if target.entry is None or target.entry.stream.name != stream:
            raise UsageError(
                f"{target.locator.text} is not configured as a consumer of {stream}",
                f"name one of those in {config.file}, or the stream as AWS does",
            )
    return targets


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


def _redacted(saved: SavedSnapshot) -> SavedSnapshot:
    lineage = redaction.redacted_lineage(saved.lineage)
    names = redaction.Redaction(saved.lineage.stream.name)
    consumers = tuple(names.snapshot(snapshot, lineage) for snapshot in saved.consumers)
    return SavedSnapshot(saved.taken, lineage, consumers, redacted=True)
