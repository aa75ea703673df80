"""The words on a shard, in every format: its name, its life, its place, what is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.model import HASH_SPACE, ShardId, short
from reshardctl.model.times import duration, instant
from reshardctl.planning.effects import Harm
from reshardctl.render.costs import cost
from reshardctl.render.escape import cut, escape
from reshardctl.render.graph.chart import SOME, Box, Chart, DrawnPosition
from reshardctl.render.words import clock, count, shortened

LONGEST = 24
"""Characters of a stored position that a label shows."""


def name(shard: ShardId) -> str:
    """The number of a shard, or the beginning of an id of another form."""
    return escape(cut(short(shard), 30))


def life(box: Box, now: float) -> str:
    """`open` or `closed 09:14`."""
    return "open" if box.open else f"closed {clock(box.closed, now)}"


def stored(position: DrawnPosition) -> str:
    """The position as it is stored, shortened."""
    return "no position" if position.stored is None else spelled(position.stored)


def spelled(text: str) -> str:
    """A position shortened."""
    return escape(cut(shortened(text), LONGEST))


def unread(box: Box) -> str:
    """`unread 12m`, `unread ≤ 12m` where less may be; "" where nothing is or it takes no time."""
    position = box.position
    if position is None or (seconds := position.unread(box.closed)) < 1:
        return ""
    bound = "" if position.perhaps == position.since else "≤ "
    return f"unread {bound}{duration(seconds)}"


def loss(position: DrawnPosition) -> str:
    """`✗ never read`, `✗ skips up to 12m if initial=LATEST`, `! perhaps never read`, or ""."""
    if position.loss is None:
        return ""
    effect, only = cost(position.loss.effect), position.loss.only
    if not position.loss.grave:
        return f"! perhaps {effect}"
    return f"✗ {effect} {only}".rstrip()


def standing(box: Box) -> str:
    """Position, what is unread and what is lost in one line; "" without a consumer."""
    if box.position is None:
        return ""
    parts = [stored(box.position), unread(box), loss(box.position)]
    return ", ".join(part for part in parts if part)


def node(box: Box, now: float) -> list[str]:
    """The lines of a node: name, life, position, what is unread and what is lost."""
    lines = [name(box.shard), life(box, now)]
    if box.position is not None:
        lines += [stored(box.position), unread(box), loss(box.position)]
    return [line for line in lines if line]


def share(box: Box) -> str:
    """How much of the hash space: `12.5 %`."""
    return f"{(box.high - box.low + 1) / HASH_SPACE * 100:.4g} %"


def numbers(box: Box) -> list[str]:
    """Everything about one shard, a line each; for tooltips."""
    parents = [name(p) + (" (expired)" if p in box.expired else "") for p in box.parents]
    lines = [
        f"{escape(cut(box.shard, 60))}   {'open' if box.open else 'closed'}",
        f"opened {instant(box.opened)}",
        "" if box.open else f"closed {instant(box.closed)}, "
        f"lived {duration(box.closed - box.opened)}",
        f"hash keys {box.low} to {box.high} ({share(box)})",
        f"parents {', '.join(parents)}" if parents else "",
    ]
    return [line for line in lines + _standing(box) if line]


def _standing(box: Box) -> list[str]:
    position = box.position
    if position is None:
        return []
    lines = [f"position {stored(position)}"]
    if position.processed is not None:
        span = position.processed
        upto = f"{span.lo}" if span.exact else f"between {span.lo} and {span.hi}"
        why = f": {escape(span.why)}" if span.why else ""
        lines.append(f"processed {escape(upto)} ({span.basis}{why})")
    lines.append(unread(box))
    if position.loss is not None:
        lines.append(f"{loss(position)}: {escape(cut(position.loss.effect.why, 300))}")
    return [*lines, ", ".join(position.codes)]


def headline(chart: Chart, joint: str = " · ") -> str:
    """The stream in one line: the shards that are drawn, or all where none is."""
    shown = len(chart.boxes) or chart.hidden
    opened = sum(box.open for box in chart.boxes) if chart.boxes else chart.hidden_open
    parts = [
        chart.stream.name, chart.stream.region, chart.stream.status,
        f"{opened} open, {shown - opened} closed", instant(chart.now),
    ]
    if chart.hidden:
        left_out = f"{count(chart.hidden, 'shard')} not drawn"
        parts.insert(4, left_out if chart.boxes else f"none of {chart.hidden} drawn")
    if chart.expired:
        parts.insert(4, f"{count(len(chart.expired), 'expired parent')}")
    return escape(joint.join(parts))


KINDS = (
    (True, Harm.SKIPPED, "loss", "losses"), (True, Harm.STALLED, "never read", "never read"),
    (False, Harm.SKIPPED, "possible loss", "possible losses"),
    (False, Harm.STALLED, "perhaps never read", "perhaps never read"),
)
"""What a shard's loss is called: whether a start has it for certain, and whether records are passed
over or wait until they expire."""


def kinds_of_loss(boxes: Sequence[Box]) -> Iterator[tuple[bool, str, list[Box]]]:
    """Each kind that there is: whether a start has it for certain, `2 losses`, and the boxes."""
    for grave, harm, one, several in KINDS:
        those = [
            box for box in boxes
            if box.loss and box.loss.grave is grave and box.loss.effect.harm is harm
        ]
        for when in ("", f" {SOME}"):
            alike = [box for box in those if box.loss and bool(box.loss.only) is bool(when)]
            if alike:
                yield grave, f"{count(len(alike), one, several)}{when}", alike


def loss_count(chart: Chart) -> str:
    """`2 losses, 1 perhaps never read, 3 losses not drawn`, or "" where there is none."""
    counts = [counted for _, counted, _ in kinds_of_loss(chart.boxes)]
    return ", ".join(part for part in (*counts, hidden_losses(chart)) if part)


def hidden_losses(chart: Chart) -> str:
    """`3 losses not drawn`, or ""."""
    hidden = count(chart.hidden_losses, "loss", "losses")
    return f"{hidden} not drawn" if chart.hidden_losses else ""


def counted_headline(chart: Chart) -> str:
    """The stream in one line, and how many losses there are."""
    return " · ".join(part for part in (headline(chart), loss_count(chart)) if part)


def folding(chart: Chart) -> str:
    """`12 finished shards are not drawn.`, or ""."""
    verb = "is" if chart.folded == 1 else "are"
    return f"{count(chart.folded, 'finished shard')} {verb} not drawn." if chart.folded else ""
