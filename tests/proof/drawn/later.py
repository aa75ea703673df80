"""Damages with dice of their own: rows of another region's twin, copies of a store, hostile texts.

They came to be drawn after the others, and a state without one of them stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from reshardctl.model import decode
from tests.proof.drawn.damages import Damage, Forged, World, damaged
from tests.proof.drawn.states import Rows
from tests.support.case_stream import number

HOSTILE = (
    "\x1b[2J\x1b[31mgone", "\x1b]0;title\x07", "two\nlines", "\r\n::error::pwned",
    "::set-output name=plan::none", "=HYPERLINK(\"http://example.com\")", "@SUM(A1:A9)",
    "+1-1", "\u202egnol", "`id`$(id)", "<script>alert(1)</script>", "%n{0}", "|| true", "…" * 300,
)
"""What does harm in a terminal, a log of GitHub's, a spreadsheet, a shell, a page or a table."""
SHARE = 0.3
"""Of the states that get one of these."""


def twin(rng: Random, rows: Rows, world: World) -> Forged:
    """Rows of a stream of the same name in another region, made with this one and resharded alike:
    the same shards, with numbers of its own, none of them from the future."""
    off, every = rng.choice((-86_400, -61, -2, 2, 61, 86_400)), rng.random() < 0.5
    keys = [key for key in world.keys(rows) if world.place_of(key, rows) in world.case.topology]
    for key in keys if every else rng.sample(keys, len(keys) // 2):
        text = (world.shape.position(rows[key]) or {}).get("S", "")
        own = decode(str(text))
        if own is not None and (time := own.time + max(off, 0)) <= world.case.now:
            index = rng.randrange(2**20)
            world.shape.place(rows[key], {"S": number(own.epoch + off, index, time, own.shard)})
    return ()


def hostile(rng: Random, rows: Rows, world: World) -> Forged:
    """A text that somebody else may choose does harm where it is shown."""
    text = rng.choice(HOSTILE)
    fields = [
        (key, name) for key in sorted(rows) for name in sorted(rows[key].keys() - world.shape.apart)
        if "S" in rows[key][name]
    ]
    if fields and rng.random() < 0.7:
        key, name = rng.choice(fields)
        rows[key][name] = {"S": text}
    elif keys := world.keys(rows):
        world.shape.place(rows[rng.choice(keys)], {"S": text})
    return ()


def copied(beside: str, attribute: str = "") -> Damage:
    """The rows of a blue/green copy, of this moment or an earlier one, under a name of their own.
    beside: what the name begins with. attribute: of a row, where it is stored too."""

    def copy(rng: Random, rows: Rows, world: World) -> Forged:
        source = rng.choice([rows, *world.backups])
        for key, row in sorted(source.items()):
            shard = key.rpartition("/")[2]
            named = {attribute: {"S": beside}} if attribute else {}
            rows[f"{beside}/{shard}"] = {**{n: dict(v) for n, v in row.items()}, **named}
        return ()

    return copy


def harmed(
    rng: Random, name: str, honest: Rows, world: World, ways: Mapping[str, tuple[Damage, float]],
    later: Mapping[str, tuple[Damage, float]], only: Sequence[int] | None,
) -> tuple[Rows, tuple[str, ...], frozenset[str]]:
    """One or two damages, or in one state of twenty none, and one or two of the later ones."""
    rows, done = {key: dict(row) for key, row in honest.items()}, tuple[str, ...]()
    forged, last = frozenset[str](), 0
    if rng.random() >= 0.05:
        last = len(damaged(name, honest, world, ways)[1])
        places = None if only is None else [place for place in only if place < last]
        rows, done, forged = damaged(name, honest, world, ways, places)
    if Random(f"later {name}").random() < SHARE and (only is None or last in only):
        rows, more, false = damaged(f"later {name}", rows, world, later)
        done, forged = (*done, *more), forged | false
    return rows, done, forged
