"""A medium whose stored positions are damaged: how a store of it is made, and what befalls it.

Each medium is one row of a table: `MEDIA` of the files `media_*.py`, together in `test_media.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.cli.lab import Lab, Servers, Wire
from tests.support.servers import Running

Damage = Callable[[Random], tuple[Sequence[str], str]]
"""dice → texts that name what was damaged, and what was done."""
Place = tuple[Servers, Path, pytest.MonkeyPatch]
"""What a lab is made in, with a wire of the test's own: servers, a folder, and monkeypatch."""


@dataclass(frozen=True)
class Setting:
    """What a store is made in: a folder of its own, and the servers of the tests."""

    servers: Servers
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    running: Callable[[str], Running]
    """Starts a database server by its kind, once for a module."""
    wire: Wire = field(default_factory=Wire)

    @property
    def basics(self) -> tuple[Servers, Path, pytest.MonkeyPatch, Wire]:
        """As most labs take them."""
        return self.servers, self.folder, self.monkeypatch, self.wire


@dataclass(frozen=True)
class Store:
    """A whole store, and the damage that it is to suffer.

    stored: everything in it. kept: the same without what no undo gives back.
    """

    lab: Lab
    damage: Damage
    stored: Callable[[], Any]
    kept: Callable[[], Any]


@dataclass(frozen=True)
class Medium:
    """A state of a medium. name: tells it from others, and seeds the dice."""

    name: str
    store: Callable[[Setting], AbstractContextManager[Store]]
    needs: tuple[str, ...] = ()
    few: int = 1
    many: int = 30
    """Seeds of every turn, and of a long one. A medium that is another's in another state has none
    at every turn."""


def seeded(media: Sequence[Medium]) -> list[Any]:
    """Parameters `(medium, seeds)`: each with its few seeds, and, `long`, with the others."""
    found = []
    for one in media:
        marks = [pytest.mark.needs(name) for name in one.needs]
        few, many = range(one.few), range(one.few, one.many)
        if few:
            found.append(pytest.param(one, few, id=one.name, marks=marks))
        found.append(
            pytest.param(one, many, id=f"{one.name}-many", marks=[*marks, pytest.mark.long])
        )
    return found
