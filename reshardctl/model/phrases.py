"""Names in a message: the first few of many, and the known one that was most likely meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

from reshardctl.model.shards import ShardId, short

Item = TypeVar("Item")


def listed(items: Sequence[Item], most: int, name: Callable[[Item], str] = str) -> str:
    """The names `a, b, c`; of more than `most` items `a, b and 7 more`."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(map(name, items[:most])) + more


def by_reason(reasons: Mapping[str, str], most: int) -> str:
    """`a, b and 7 more: is gone; c: moved`: the names with the same reason together.

    reasons: name → its reason. most: how many names are written of each.
    """
    groups: dict[str, list[str]] = {}
    for name, why in sorted(reasons.items()):
        groups.setdefault(why, []).append(name)
    return "; ".join(f"{listed(names, most)}: {why}" for why, names in groups.items())


def listed_shards(shards: Sequence[ShardId], most: int) -> str:
    """`shard 4`, `shards 4, 5 and 7 more`."""
    return f"shard{'' if len(shards) == 1 else 's'} {listed(shards, most, short)}"


CUTOFF = 0.6
"""How similar two names have to be, from 0 to 1; difflib's own default."""


_ALIKE = str.maketrans("ol", "01")
"""Letters that are typed for digits."""


def similar(wanted: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to `wanted`, in any case; `None` if none is."""
    spelled = {name.casefold().translate(_ALIKE): name for name in known}
    near = get_close_matches(wanted.casefold().translate(_ALIKE), spelled, n=1, cutoff=CUTOFF)
    return spelled[near[0]] if near else None


def did_you_mean(wanted: str, known: Iterable[str], otherwise: str) -> str:
    """The advice after an unknown name: a similar name, if there is one, before `otherwise`."""
    near = similar(wanted, known)
    return otherwise if near is None else f"did you mean {near}? {otherwise}"
