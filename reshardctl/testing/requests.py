"""A request on its way through the fake, and the shape of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Params = Mapping[str, Any]
Answer = dict[str, Any]


class Call(NamedTuple):
    """One entry of the call log."""

    action: str
    params: Params


@dataclass(frozen=True, slots=True)
class Request:
    """One request: an API action, its parameters in AWS's shape, blobs as bytes.

    page, view: for faults; a smaller page, and the listing from before or after the last reshard,
    whatever the stream's status. A "torn" page is one from before whose continuation is from after.
    """

    action: str
    params: Params
    region: str
    account: str
    now: float = 0.0
    page: int | None = None
    view: Literal["before", "after", "torn"] | None = None
