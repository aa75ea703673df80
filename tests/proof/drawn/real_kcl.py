"""The real KCL as a judge: one process for each release, many applications at a time.

It goes by no clock but that of the stream and of its own waits, so a seed's starts have the same
inputs every time, and are recorded as those of the cases are (tests/proof/libraries/starts).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from reshardctl.model import Image
from tests.proof.drawn.states import State, rows_of
from tests.proof.drawn.trial import Judge, Seen
from tests.proof.libraries.kcl import built
from tests.proof.libraries.kcl.laboratory import Laboratory, Start

LONGER = 3
"""Times the usual wait that a further look waits more."""
RECORDED = Path(__file__).parent / "recorded"


def judging() -> Callable[[int], AbstractContextManager[Judge]]:
    """Opens DynamoDB Local and the libraries. A run that lost a lease, or did not settle, says
    nothing: this machine was too busy."""

    @contextmanager
    def opened(_jobs: int) -> Iterator[Judge]:
        if reason := built.missing():
            raise RuntimeError(reason)
        laboratory = Laboratory(RECORDED)
        try:
            yield lambda state, images: _start(laboratory, state, images)
        finally:
            laboratory.close()

    return opened


def _start(laboratory: Laboratory, state: State, images: list[Image]) -> Seen:
    items = [_typed(row) for row in rows_of(images).values()]
    try:
        outcome = laboratory.run(Start(
            state.case, state.release, state.initial, items, longer=1 + LONGER * state.looks
        ))
    except ClientError as error:  # an owner that is no string cannot be in the index
        return Seen({}, False, f"no table holds such a row: {error}")
    found: dict[str, tuple[str, ...]] = {}
    for shard, payload in outcome.delivered:
        found[shard] = (*found.get(shard, ()), payload)
    uncertain = "it lost a lease" if outcome.robbed else ""
    if not outcome.settled:
        uncertain = "it still moved when its time was up"
    return Seen(found, outcome.died, uncertain, partial(laboratory.confirm, outcome))


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    """Bytes as boto3 takes them."""
    return {
        name: {"B": base64.b64decode(value["B"])} if "B" in value else value
        for name, value in row.items()
    }
