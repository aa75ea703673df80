"""Encodes the target frontier as entries, spelled as Quickwit itself would write them.

START: no entry (an empty one means the same and stays). A number: that number. DONE: where a read
showed that nothing is left, the last record's number, which is stored already; else, and where an
announcement crashes the release, the EndingSequenceNumber.

`~` is never written, and no position after an open shard's last published one. The writes change
one text, so a step takes as many of them as the store allows.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.quickwit.behaviour import announces, announcing, named
from reshardctl.consumers.quickwit.document import NOT_LOADED, PRESENT
from reshardctl.consumers.quickwit.releases import App
from reshardctl.consumers.quickwit.rows import Checkpoint, PositionKind, ReadPosition, places_in
from reshardctl.consumers.quickwit.splice import MENDED
from reshardctl.consumers.sequence_numbers import earlier_incarnation, unborn
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Create,
    Cut,
    Delete,
    ShardId,
    Step,
    TargetFrontier,
    Update,
    Write,
    decode,
)
from reshardctl.model.images import batched
from reshardctl.model.times import instant

MOST = 5_000
"""Writes in a step. Whatever keeps a source from its start does so until the last write, so a part
of a plan is no worse than none."""
RUNNING = "a running node writes the whole text from memory, or passes over what it does not expect"
PIPELINE = (
    "a pipeline publishes from the position in its memory: it overwrites a lower stored position, "
    "and is refused where the stored position is higher"
)
"""In PostgreSQL (whole pipeline of 0.9.0 with the row edited under it, Nov 2026)."""


def encode(
    lineage: Lineage,
    checkpoint: Checkpoint,
    want: TargetFrontier,
    app: App,
    leave: Collection[ShardId],
) -> list[Step] | Cannot:
    """Writes after which the source reads from the target frontier; none where it does already."""
    obstacle = _obstacle(lineage, checkpoint, want, app)
    if obstacle is not None:
        return obstacle
    writes = _key(checkpoint, app)
    for shard, position in places_in(lineage, checkpoint).items():
        if shard in leave:
            continue
        wanted = want.get(shard, START)
        if wanted == DONE and app.traits.crashes_at_known_child and announces(lineage, shard):
            wanted = DONE  # the very end: after the last record it would announce its children
        if not _holds(position, wanted):
            writes.append(_write(checkpoint, shard, *_text(lineage, shard, wanted)))
    writes += [
        _write(checkpoint, shard, None, "the stream has no such shard yet: it would begin there")
        for shard in checkpoint.rows if unborn(lineage, shard) and shard not in leave
    ]
    writes = _of_this_stream(lineage, checkpoint, writes)
    return [
        Step("the source's positions, in one text", part) for part in batched(writes, MOST)
    ]


def _of_this_stream(
    lineage: Lineage, checkpoint: Checkpoint, writes: list[Write]
) -> list[Write]:
    """Keeps a number of this stream where only numbers of an earlier stream would be left.

    Nothing would show any more whose the positions are, so entries to be deleted are set to the
    shard's StartingSequenceNumber instead, which reads the same (runs on 0.9.0, Nov 2026).
    """
    gone = {write.key for write in writes if isinstance(write.change, Delete)}
    changed = {write.key for write in writes}
    if gone != changed:
        return writes
    rows = [row for row in checkpoint.rows.values() if row.image.key not in changed]
    left = [text for text in (row.text.removeprefix("~") for row in rows) if decode(text)]
    if not left or not all(earlier_incarnation(lineage, text) for text in left):
        return writes
    return [
        replace(write, change=Update({"position": {"S": lineage[shard].start}}))
        if (shard := ShardId(write.key.rpartition("/")[2])) in lineage else write
        for write in writes
    ]


def _obstacle(
    lineage: Lineage, checkpoint: Checkpoint, want: TargetFrontier, app: App
) -> Cannot | None:
    if checkpoint.refused:
        return Cannot(f"{NOT_LOADED}: {checkpoint.refused}", (f"{MENDED}, then run this again",))
    if any(want.get(shard) == TIP for shard in lineage):
        return Cannot(
            "Quickwit has no position for the tip as of each start",
            ("--policy latest: the present tip of every shard, as a number",),
        )
    if not app.traits.crashes_at_known_child:
        return None
    unread = [s for s in announcing(lineage, checkpoint) if want.get(s) != DONE]
    return _ways_out(lineage, unread) if unread else None


def _ways_out(lineage: Lineage, unread: list[ShardId]) -> Cannot:
    ends = [closed for s in unread if (closed := lineage.closed_at(s)) is not None]
    read = f"if --probe finds nothing left in {named(unread)}, this release can be made to start"
    ways = [
        "upgrade to Quickwit 0.9.0 or later: it starts on a resharded stream and reads all of it",
        read,
        f"add --policy latest: skips what is unread in {named(unread)}, and all before now",
    ]
    if ends:
        until = instant(max(ends) + lineage.stream.retention)
        ways.insert(
            1, f"wait until {until}: they are no longer listed then, and what is unread is gone"
        )
    return Cannot(
        f"no position both lets this release start and keeps what is unread in {named(unread)}: "
        "read to its end a closed shard announces its children, which crashes it", tuple(ways),
        tuple(unread), read,
    )


def _key(checkpoint: Checkpoint, app: App) -> list[Write]:
    if checkpoint.known or not app.traits.needs_key:
        return []
    return [Write(
        checkpoint.key, Update({"checkpoint": PRESENT}), checkpoint.state,
        "the source's key is missing, without which it fails at every start", ("checkpoint",),
        running=_running(checkpoint),
    )]


_SANE = (PositionKind.NUMBER, PositionKind.START, PositionKind.END)


def _holds(position: ReadPosition, wanted: Cut) -> bool:
    """Whether nothing has to be written, so that the shard is read from the wanted cut on."""
    at = position.span.lo
    return position.kind in _SANE and (at == wanted or _read_from_there(at, wanted))


def _read_from_there(stored: Cut, wanted: Cut) -> bool:
    """Whether a read from the stored position showed that nothing follows it."""
    return wanted == DONE and wanted.text == str(stored)


def _text(lineage: Lineage, shard: ShardId, wanted: Cut) -> tuple[str | None, str]:
    """The text to store (`None` for no entry) and the reason."""
    end = lineage[shard].end
    if wanted == START:
        return None, "none of it was processed: it is read from its beginning"
    if wanted != DONE or end is None:
        return wanted.text, "it was processed up to that record"
    if wanted.text.isdigit():
        return wanted.text, "its last record: a read showed that nothing is after it"
    if wanted.text:
        return None, "it never held a record"
    return end, "its end: nothing of it is read, and it announces no children"


def _write(checkpoint: Checkpoint, shard: ShardId, text: str | None, why: str) -> Write:
    row, key = checkpoint.rows.get(shard), f"{checkpoint.key}/{shard}"
    running = _running(checkpoint)
    if row is None:
        assert text is not None, "without an entry a shard begins at its start"
        return Write(key, Create({"position": {"S": text}}), None, why, running=running)
    change = Delete() if text is None else Update({"position": {"S": text}})
    return Write(key, change, row.image, why, ("position",), running=running)


def _running(checkpoint: Checkpoint) -> str:
    return RUNNING if checkpoint.migration is None else PIPELINE
