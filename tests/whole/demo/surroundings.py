"""The settings of AWS that a test of the demo runs in: an operator's, and the demo's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reshardctl.demo.servers import Endpoints, child_environment

ASTRAY = {
    "AWS_PROFILE": "nobody", "AWS_ACCESS_KEY_ID": "real", "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9",
}  # fmt: skip
"""What would lead anywhere but to the demo."""


def surround(patch: pytest.MonkeyPatch, endpoints: Endpoints, folder: Path) -> None:
    """This process works in a folder, and what it calls of AWS is the demo's."""
    surroundings = child_environment(os.environ, endpoints)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        patch.delenv(name)
    for name, value in (surroundings | {"RESHARDCTL_STATE_DIR": str(folder / "state")}).items():
        patch.setenv(name, value)
    patch.chdir(folder)
