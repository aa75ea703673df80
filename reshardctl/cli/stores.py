"""The medium of a locator: one opener each, none of which calls anything yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reshardctl.locator import Locator

if TYPE_CHECKING:
    from reshardctl.media.base import Medium


@dataclass(frozen=True, slots=True)
class Reached:
    """How the store's account is reached. endpoints: service → URL, for those that are given.

    session: a boto3 Session. clock: monotonic seconds; sleep: waits that many.
    """

    session: Any
    region: str | None
    endpoints: Mapping[str, str]
    clock: Callable[[], float]
    sleep: Callable[[float], None]


def _dynamodb(place: Locator, reached: Reached) -> Medium:
    from reshardctl.consumers import consumer_of
    from reshardctl.consumers.layouts import TABLES
    from reshardctl.media.dynamodb import DynamoDb

    shaped = TABLES.get(place.consumer)
    store = shaped(place.target, place.options) if shaped else place.target
    return DynamoDb(
        reached.session, store, region=reached.region,
        endpoint_url=reached.endpoints.get("dynamodb"), clock=reached.clock, sleep=reached.sleep,
        side=consumer_of(place).side_tables(place.target),
    )


STORES: Mapping[str, Callable[[Locator, Reached], Medium]] = {
    "dynamodb": _dynamodb,
}
