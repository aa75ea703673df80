"""Every case of a listing that contradicts itself or fails: nothing is concluded from it."""

from __future__ import annotations

import pytest

from reshardctl.errors import CannotTell, StreamUnsettled
from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from tests.support.case_listing import ListingCase, listing_cases
from tests.unit.kinesis.streams import in_process
from tests.unit.lineage.histories import STREAM

every = pytest.mark.parametrize("case", listing_cases(), ids=lambda case: case.name)


@every
def test_it_ends_with_exit_3(case: ListingCase) -> None:
    with pytest.raises(CannotTell) as refused:
        in_process(case.fake()).kinesis.lineage("orders")
    assert refused.value.exit is Exit.UNKNOWN
    assert isinstance(refused.value, StreamUnsettled) == bool(case.breaches)
    assert not case.refused or "ListShards" in str(refused.value)


@pytest.mark.parametrize(
    "case", [case for case in listing_cases() if not case.refused], ids=lambda case: case.name
)
def test_its_breaches(case: ListingCase) -> None:
    listed = case.fake().client().list_shards(StreamName="orders")["Shards"]
    named: dict[str, set[str]] = {}
    for breach in Lineage.from_pages(STREAM, [listed]).breaches():
        named.setdefault(breach.code, set()).update(breach.shards)
    assert named == case.breaches
