"""Whether a source is switched off in the metastore itself, where that stops it.

In PostgreSQL it does: a disabled source gets no pipeline, and no other save touches its positions,
for each reads the row anew under its lock. A file-backed metastore is written whole from the memory
of a node, so there only a stopped node is safe (runs on 0.8.2 and 0.9.0, Nov 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reshardctl.model import Image


@dataclass(frozen=True, slots=True)
class Switch:
    """on, off: the sources that are switched so, as INDEX/SOURCE."""

    on: Sequence[str]
    off: Sequence[str]

    @property
    def excluded(self) -> str:
        """What a watch without a new position then shows, in words."""
        return f"{', '.join(self.off)}: disabled in the metastore, and nothing published"

    @property
    def refusal(self) -> str:
        """Why nothing is written while one is on."""
        return (
            f"source {', '.join(self.on)} is enabled: a pipeline would pass over a position that "
            "is put back, and be refused by one that is put forward"
        )

    @property
    def next(self) -> str:
        """How to switch the first of them off."""
        index, _, source = self.on[0].partition("/")
        return (
            f"quickwit source disable --index {index} --source {source}, wait until it publishes "
            "no more, and run this again; or stop every node and add --assume-stopped"
        )


def enabled(source: Image) -> bool:
    """Of a source's own row."""
    return bool(source.attributes.get("enabled", {}).get("BOOL", True))


def in_postgres(source: Image) -> bool:
    """Whether a source's own row is of a metastore in PostgreSQL."""
    return "migration" in source.attributes


def switch(images: Iterable[Image], index: str = "", source: str = "") -> Switch | None:
    """Of the sources that are meant; `None` for a store whose switch does not stop them."""
    sources = [
        image for image in images if in_postgres(image)
        and index in ("", image.key.split("/")[0]) and source in ("", image.key.split("/")[1])
    ]
    if not sources:
        return None
    return Switch(
        [image.key for image in sources if enabled(image)],
        [image.key for image in sources if not enabled(image)],
    )
