"""Finds the judged stream among those of a multi-stream table.

KCL takes the creation epoch in its keys from the application and compares it with nothing
(StreamIdentifier.multiStreamInstance, KCL 3.5.1). So the epoch proves the stream only where it
equals the stream's creation time. Otherwise the numbers do: those written after the stream was
created cannot belong to an earlier one of its name. Where no row holds a number it cannot be known,
as in a single-stream table, and the operator has to say so for a fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reshardctl.consumers.kcl.keys import Named
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import Stream, time_of
from reshardctl.model.phrases import listed
from reshardctl.model.times import instant

SLACK = 60
"""Seconds by which a first number may be older than its stream's creation time."""
NAMED = 5
"""How many streams a message names."""

Positions = Mapping[Named, Sequence[str]]
"""Every stream of the table, with the positions of its rows as spelled."""


def chosen(positions: Positions, stream: Stream | None) -> Named:
    """The judged stream's name in the table; raises UsageError or WrongStream if there is none."""
    if stream is None:
        raise UsageError(
            f"a multi-stream table, with rows of {names_of(positions)}", "name one with --stream"
        )
    same = [n for n in positions if (n.account, n.name) == (stream.account, stream.name)]
    exact = [n for n in same if n.epoch == int(stream.created)]
    alive = exact or [n for n in same if any(_since(stream, text) for text in positions[n])]
    if not alive and len(same) == 1 and not any(map(time_of, positions[same[0]])):
        alive = same
    if len(alive) == 1:
        return alive[0]
    raise _none(positions, stream, same, alive)


def _since(stream: Stream, position: str) -> bool:
    """Whether the position is a number that was written after the stream was created."""
    time = time_of(position)
    return time is not None and time >= stream.created - SLACK


def _none(
    positions: Positions, stream: Stream, same: Sequence[Named], alive: Sequence[Named]
) -> WrongStream:
    what = f"stream {stream.name} of account {stream.account}, created {instant(stream.created)}"
    there = f"the table serves several streams, and has rows of {names_of(positions)}"
    if len(alive) > 1:
        return WrongStream(
            f"{there}: more than one may be {what}",
            "none has its creation time in its key, and each has numbers younger than it; "
            "give the application the creation time, or delete the rows of the wrong name",
        )
    if same:
        return WrongStream(
            f"{there}: none of them is {what}",
            f"the numbers of {same[0].text} are older: it is an earlier stream of this name. "
            "An application that is given the present creation time starts at its initial "
            "position; one that keeps the old name stalls until these rows are deleted",
        )
    return WrongStream(
        f"{there}: none of them is {what}",
        "name one of these with --stream, or another table; a stream that the application was "
        "given just now gets its first rows from KCL itself",
    )


def names_of(streams: Iterable[Named]) -> str:
    """The streams by name, in order, and how many more there are."""
    return listed(sorted(named.text for named in streams), NAMED)


def others_in_words(own: Named, others: Mapping[Named, int]) -> list[str]:
    """Notes on the rows that are not judged. others: stream → number of rows."""
    earlier = {n: c for n, c in others.items() if (n.account, n.name) == (own.account, own.name)}
    rest = {n: c for n, c in others.items() if n not in earlier}
    notes = []
    if rest:
        named = listed(sorted(rest, key=str), NAMED, lambda n: f"{n.text} ({rest[n]})")
        notes.append(
            f"a multi-stream table: {_rows(rest.values())} of {len(rest)} other "
            f"stream{'s' if len(rest) > 1 else ''} {'are' if sum(rest.values()) > 1 else 'is'} "
            f"left alone: {named}"
        )
    return notes


def earlier(own: Named, other: Named) -> bool:
    """Whether the other has the same account and name, and another epoch."""
    return (own.account, own.name) == (other.account, other.name) and own != other


def _rows(counts: Iterable[int]) -> str:
    total = sum(counts)
    return f"{total} row{'s' if total != 1 else ''}"
