"""Which of the recorded starts are run again for a commit."""

from __future__ import annotations

import hashlib
import math
import subprocess
from collections.abc import Collection
from pathlib import Path

SHARE = 0.02


def sample(commit: str, digests: Collection[str], share: float = SHARE) -> frozenset[str]:
    """At least one of these, and at least this share; another commit draws others."""
    ranked = sorted(digests, key=lambda each: hashlib.sha256(f"{commit} {each}".encode()).digest())
    return frozenset(ranked[: math.ceil(share * len(ranked))])


def commit_of(checkout: Path) -> str:
    """The checked-out commit; empty where this is no checkout of git."""
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except OSError:
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""
