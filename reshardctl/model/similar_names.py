"""Finds the known name that a mistyped one was most likely meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CUTOFF = 0.6
"""How similar two names have to be, from 0 to 1; difflib's own default."""


def similar(wanted: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to `wanted`, in any case; `None` if none is."""
    spelled = {name.casefold(): name for name in known}
    near = get_close_matches(wanted.casefold(), spelled, n=1, cutoff=CUTOFF)
    return spelled[near[0]] if near else None


def did_you_mean(wanted: str, known: Iterable[str], otherwise: str) -> str:
    """The advice after an unknown name: a similar name, if there is one, before `otherwise`."""
    near = similar(wanted, known)
    return otherwise if near is None else f"did you mean {near}? {otherwise}"
