"""Where journals are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def state_dir(environment: Mapping[str, str], home: Path) -> Path:
    """$RESHARDCTL_STATE_DIR, else reshardctl in $XDG_STATE_HOME, else in ~/.local/state.

    A relative XDG_STATE_HOME is not looked at (XDG Base Directory Specification).
    """
    if chosen := environment.get("RESHARDCTL_STATE_DIR"):
        return Path(chosen)
    state = environment.get("XDG_STATE_HOME", "")
    return (Path(state) if state.startswith("/") else home / ".local" / "state") / "reshardctl"


def new_path(directory: Path, when: str, store: str, plan: str) -> Path:
    """A journal's path: time, store and plan in its name, so that a listing tells them apart.

    when: UTC, ISO 8601. store: the table's name or the like. plan: the plan's digest.
    """
    name = "-".join((re.sub(r"[^0-9TZ]", "", when), store, plan[:8]))
    return directory / f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)}.jsonl"
