"""Whether a source is disabled in the metastore itself, where that stops it.

In PostgreSQL it does: a disabled source gets no pipeline, and no other save touches its positions,
because each reads the row anew under its lock. A file-backed metastore is written whole from the
memory of a node, so only a stopped node is safe there (runs on 0.8.2 and 0.9.0, Nov 2026).
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.consumers.base import EnabledState
from reshardctl.consumers.quickwit.rows import is_named
from reshardctl.errors import command_line
from reshardctl.model import Image


def enabled(source: Image) -> bool:
    """Whether a source is enabled, by its own row."""
    return bool(source.attributes.get("enabled", {}).get("BOOL", True))


def in_postgres(source: Image) -> bool:
    """Whether a source's own row is of a metastore in PostgreSQL."""
    return "migration" in source.attributes


def enabled_state(
    images: Iterable[Image], index: str = "", source: str = ""
) -> EnabledState | None:
    """State of the selected sources; `None` for a store in which disabling does not stop them."""
    sources = [
        image for image in images if in_postgres(image) and is_named(image, index, source)
    ]
    if not sources:
        return None
    on = tuple(image.key for image in sources if enabled(image))
    off = tuple(image.key for image in sources if not enabled(image))
    return EnabledState(
        on, off, f"{', '.join(off)}: disabled in the metastore, and nothing published",
        f"source {', '.join(on)} is enabled: a pipeline would pass over a position that is put "
        "back, and be refused by one that is put forward", _off(on[0]) if on else "",
    )


def _off(key: str) -> str:
    """How to disable a source."""
    index, _, source = key.partition("/")
    return (
        command_line("quickwit", "source", "disable", "--index", index, "--source", source)
        + ", wait until it publishes no more, and run this again; or stop every node and add "
        "--assume-stopped"
    )
