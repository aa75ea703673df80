"""Names the checkpoint in errors about its files: a consumer knows their names, not the folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reshardctl.consumers.locator import Locator
from reshardctl.errors import ReshardError

FOLDERS = {"files": "", "s3files": "s3://"}
"""Medium whose rows are files of one folder → what comes before the folder's name."""


@contextmanager
def located(locator: Locator) -> Iterator[None]:
    """Errors of the body begin with the folder that the locator names, if it names one."""
    try:
        yield
    except ReshardError as error:
        if locator.medium in FOLDERS:
            error.what = f"{FOLDERS[locator.medium]}{locator.target}: {error.what}"
        raise
