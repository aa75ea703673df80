"""Names the place of a checkpoint in messages: a consumer knows its files, not their folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import ReshardError

FOLDERS = {"files": "", "s3files": "s3://"}
"""Medium whose rows are files of one folder → what comes before the folder's name."""


def without_position(snapshot: Snapshot) -> str:
    """That a store holds no position, with the address of the server that was read."""
    address = snapshot.store.get("arn", "")
    where = f": {address} was read" if "://" in address else ""  # of a server: no ARN
    return f"{snapshot.locator.text} holds no position{where}"


@contextmanager
def located(locator: Locator) -> Iterator[None]:
    """Errors of the body begin with the folder that the locator names, if it names one."""
    try:
        yield
    except ReshardError as error:
        if locator.medium in FOLDERS:
            error.what = f"{FOLDERS[locator.medium]}{locator.target}: {error.what}"
        raise
