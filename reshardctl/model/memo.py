"""`Memo`: what pure functions answered, so that nothing is computed twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from operator import is_
from typing import Any, TypeVar

V = TypeVar("V")
_Answer = tuple[tuple[Any, ...], Any]
"""What was asked about, and what was answered."""

MOST = 256
"""Answers of one function that are kept: of every candidate, on the rows as they are and as plans
leave them."""
ROWS = 4
"""Sets of rows that are kept: the stored ones, and those after the plans looked at last."""


class Memo:
    """The answers of pure functions about one thing, its owner; the newest of each function.

    What a function is asked about beside the owner is told apart by identity and kept with the
    answer: Python gives an object's id again once it is gone. Neither may be changed afterwards.
    The owner is not kept, so that both are gone with its last user.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Gives up all answers, of which nobody will ask any more."""
        self._newest = defaultdict[Any, dict[tuple[int, ...], _Answer]](dict)
        self._once = defaultdict[Any, dict[Hashable, Any]](dict)
        self._last = defaultdict[Any, dict[Hashable, _Answer]](dict)
        self._equal = defaultdict[Any, list[_Answer]](list)
        self._latest = dict[Any, Any]()

    def __call__(self, ask: Callable[..., V], owner: object, *about: Any, most: int = MOST) -> V:
        """`ask(owner, *about)`, as it was answered before or now."""
        kept = self._newest[ask]
        asked = tuple(map(id, about))
        known = kept.pop(asked, None) or (about, ask(owner, *about))
        kept[asked] = known
        for old in list(kept)[:-most] if len(kept) > most else ():
            kept.pop(old, None)
        answer: V = known[1]
        return answer

    def once(self, ask: Callable[..., V], owner: object, place: Hashable) -> V:
        """`ask(owner, place)`, mostly about a shard and its row; each answer is kept."""
        kept = self._once[ask]
        try:
            answer: V = kept[place]
            return answer
        except KeyError:
            pass
        answer = kept[place] = ask(owner, place)
        return answer

    def last(self, ask: Callable[..., V], owner: object, place: Hashable, *about: Any) -> V:
        """`ask(owner, place, *about)`; for each place, mostly a shard, the last answer is kept."""
        kept = self._last[ask]
        known = kept.get(place)
        if known is None or not all(map(is_, known[0], about)):
            known = kept[place] = (about, ask(owner, place, *about))
        answer: V = known[1]
        return answer

    def onwards(self, ask: Callable[..., V], owner: object, *about: Any) -> V:
        """`ask(owner, before, *about)`, where `before` is its last answer, `None` at first."""
        answer: V = ask(owner, self._latest.get(ask), *about)
        self._latest[ask] = answer
        return answer

    def equal(
        self, ask: Callable[..., V], *about: Any, again: Callable[..., V] | None = None
    ) -> V:
        """`ask(*about)`, told apart by equality: rows that were read, or planned, again.

        again: asked in place of `ask` with the newest answer besides, once there is one.
        """
        kept = self._equal[ask]
        known = next((one for one in reversed(kept) if one[0] == about), None)
        if known is not None:
            kept[:] = [one for one in kept if one is not known]
        elif again is not None and kept:
            known = (about, again(*about, kept[-1][1]))
        else:
            known = (about, ask(*about))
        kept.append(known)
        del kept[:-ROWS]
        answer: V = known[1]
        return answer
