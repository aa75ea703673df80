"""How a case spells the rows of each library: one module here per consumer, found by its name.

The tests of cases know streams, records and expectations; a dialect knows what a library stores.
It is written from the library's own format, apart from the code that it judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reshardctl.model import Image, Step

if TYPE_CHECKING:
    from tests.support.case import Case


class Dialect(Protocol):
    """A module of this package."""

    KEYS: frozenset[str]
    """Top-level tables of a case file beside the common ones; they are in `Case.state`."""
    START: str
    """The option in which `[[expect]] initial` is given; "" where the library has none."""

    def check(self, state: Mapping[str, Any], topology: Mapping[int, Any]) -> None:
        """KeyError, TypeError or ValueError for tables that are wrong."""

    def images(self, case: Case) -> list[Image]:
        """What is stored, in key order."""

    def repaired(self, case: Case, writes: Mapping[int, str]) -> list[Image]:
        """What is stored after the writes of `[expect.fixed]`, made by hand, in key order."""

    def spelled(self, case: Case, steps: Iterable[Step]) -> dict[int, str]:
        """What steps write, in the words of `[expect.fixed] writes`: shard → position."""


def dialect_of(consumer: str) -> Dialect:
    """ModuleNotFoundError for a library whose cases nobody can spell yet."""
    return import_module(f"tests.support.dialects.{consumer.replace('-', '_')}")  # type: ignore[return-value]


def spoken() -> list[str]:
    """Every consumer with a dialect, by name."""
    here = Path(__file__).parent
    return sorted(p.stem.replace("_", "-") for p in here.glob("*.py") if p.stem != "__init__")
