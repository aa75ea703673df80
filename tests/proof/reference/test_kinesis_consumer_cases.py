"""kinesis-consumer's cases against its reference consumers: unrepaired and repaired.

Case and model were written from the same sources and runs but apart from each other, so where they
differ one of them is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reshardctl.model import Image
from reshardctl.testing import load_topology
from tests.proof.reference import kinesis_consumer as library
from tests.proof.reference import kinesis_consumer_telegraf as telegraf
from tests.proof.reference.kinesis_consumer import Run, stored
from tests.support.case import Case, Expect, Fixed, all_cases
from tests.support.dialects import kinesis_consumer as dialect
from tests.support.grouped import Situation, by_case


def _situations() -> Iterator[Situation]:
    for case in all_cases("kinesis-consumer"):
        for expect in case.expects:
            for initial in expect.initial:
                for release in expect.releases:
                    name = f"{case.name}-{initial}-{release}"
                    yield case.name, name, (case, expect, initial, release)


every = by_case(_situations())


def mended(fixed: Fixed | None) -> bool:
    """Whether a lossless fix writes rows and leaves nothing behind."""
    return bool(fixed and fixed.writes and not fixed.remains and fixed.policy == "lossless")


@every
def test_a_start_delivers_what_the_case_says(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    ran = _run(case, dialect.images(case), initial, release)
    assert ran.died == expect.dies, ran.errors
    if not ran.died:
        assert _delivered(case, ran) == expect.delivers, ran.errors
        _in_order(ran, expect.order)


@every
@pytest.mark.only(lambda expect: expect.fixed is not None, "the case says nothing of a fix")
def test_a_start_after_the_fix_delivers_what_the_case_says(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    fixed = expect.fixed
    ran = _run(case, dialect.repaired(case, fixed.writes), initial, release)
    assert ran.died == fixed.dies, ran.errors
    assert _delivered(case, ran) == fixed.delivers, ran.errors
    _in_order(ran, fixed.order)


@every
@pytest.mark.only(
    lambda expect: mended(expect.fixed), "something is left, or nothing was to be mended"
)
def test_what_is_clean_skips_nothing_that_is_owed(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    """Nothing found, or nothing left after the fix: whatever lies behind a row is delivered."""
    images = dialect.repaired(case, expect.fixed.writes)
    ran = _run(case, images, initial, release)
    for shard, number in _rows(case, images).items():
        if shard not in case.records or not number.isdigit():
            continue
        unread = [p for n, p, _ in case.records[shard] if int(n) > int(number)]
        assert [p for p in ran.delivered.get(shard, ()) if p in unread] == unread


def _run(case: Case, images: list[Image], initial: str, release: str) -> Run:
    fake = load_topology(case.stream)

    def live() -> None:
        for shard in case.live.shards:
            for index in range(case.live.n):
                fake.put(case.stream["name"], shard, f"n{shard}-{index}", f"k{shard}")

    model = telegraf.run if release.startswith("telegraf") else library.run
    return model(fake, case.stream["name"], _rows(case, images, release), initial, release, live)


def _rows(case: Case, images: list[Image], release: str = "") -> dict[str, str]:
    store = "telegraf" if release.startswith("telegraf") else next(iter(case.stores), "ddb")
    space = f"{dialect.APP}-{case.stream['name']}/"
    return {
        image.key.removeprefix(space): stored(image.attributes, store)
        for image in images if image.key.startswith(space)
    }


def _delivered(case: Case, ran: Run) -> dict[str, tuple[str, ...]]:
    return {shard: tuple(ran.delivered.get(shard, ())) for shard in case.records}


def _in_order(ran: Run, order: tuple[tuple[str, str], ...]) -> None:
    for first, second in order:
        last = max(map(ran.order.index, ran.delivered.get(first, ())), default=-1)
        assert all(ran.order.index(payload) > last for payload in ran.delivered.get(second, ()))
