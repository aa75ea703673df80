"""Every kinsumer case through the reference: on the rows as they are, on those mended by hand as
the case says, and on those that the plan leaves.

The expectations are the case files', which cite the runs on both real libraries; the core runs the
same files in `tests/whole/test_cases_dialects.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reshardctl.model import Image
from reshardctl.planning.plan import Plan
from reshardctl.testing import load_topology
from tests.proof.reference.kinsumer import Run, run
from tests.support.case import Case, Expect, all_cases, rule_cases
from tests.support.dialects import kinsumer as dialect
from tests.support.grouped import Situation, by_case
from tests.support.judging import Bench, options_of


def _expects() -> Iterator[Situation]:
    for case in [*all_cases("kinsumer"), *rule_cases("kinsumer")]:
        for expect in case.expects:
            for initial in expect.initial:
                for release in expect.releases:
                    name = f"{case.name}-{initial.partition(':')[0]}-{release}"
                    yield case.name, name, (case, initial, release, expect)


every = by_case(_expects())


def bench(case: Case, initial: str, release: str, images: list[Image] | None = None,
          policy: str = "lossless", accept: str = "") -> Bench:
    stored = dialect.images(case) if images is None else images
    return Bench.on(case, stored, options_of(case, initial, release), policy, accept)


def played(case: Case, images: list[Image], initial: str, release: str) -> Run:
    fake = load_topology(case.stream)
    name, _, seconds = initial.partition(":+")
    start = f"{name}:{case.stream['created'] + int(seconds)}" if seconds else name

    def live() -> None:
        for shard in case.live.shards:
            for index in range(case.live.n):
                fake.put(case.stream["name"], shard, f"n{shard}-{index}", "k")

    return run(fake, case.stream["name"], dialect.tables(images), start, release, live)


def wanted(case: Case, deliveries: Any) -> dict[str, tuple[str, ...]]:
    return {s["ShardId"]: tuple(deliveries.get(s["ShardId"], ())) for s in case.shards}


def got(case: Case, ran: Run) -> dict[str, tuple[str, ...]]:
    return wanted(case, ran.delivered)


@every
def test_reference(case: Case, initial: str, release: str, expect: Expect) -> None:
    ran = played(case, dialect.images(case), initial, release)
    assert ran.died == expect.dies
    assert got(case, ran) == wanted(case, expect.delivers)


@every
@pytest.mark.only(
    lambda expect: expect.fixed is not None and not expect.fixed.refused, "the case fixes nothing"
)
def test_reference_on_rows_that_were_mended(
    case: Case, initial: str, release: str, expect: Expect
) -> None:
    """By hand, as the case says, and by the plan; played once where both are the same rows."""
    fixed = expect.fixed
    one = bench(case, initial, release, None, fixed.policy, fixed.accept)
    decision = one.decide()
    planned = one.after(decision.steps if isinstance(decision, Plan) else ())
    by_hand = dialect.repaired(case, fixed.writes)
    for images in [planned] if as_set(planned) == as_set(by_hand) else [planned, by_hand]:
        assert got(case, played(case, images, initial, release)) == wanted(case, fixed.delivers)


def as_set(images: list[Image]) -> set[str]:
    return {repr(image) for image in images}
