"""The judge of the soak sees every way to break the promise, on deliveries made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.proof.libraries.spark.soak.judging import Delivery, Put, Row, Truth, complaints

PARENT, CHILD, GRANDCHILD = "shardId-0", "shardId-1", "shardId-2"
A0, A1 = Row(PARENT, 10, "a", 0), Row(PARENT, 11, "a", 1)
B0 = Row(PARENT, 12, "b", 0)
A2, A3 = Row(CHILD, 20, "a", 2), Row(GRANDCHILD, 30, "a", 3)
ROWS = (A0, A1, B0, A2, A3)
PUTS = {row.place: Put(row.key, row.turn) for row in ROWS}
TRUTH = Truth(PUTS, {CHILD: (PARENT,), GRANDCHILD: (CHILD,)}, {0: -1, 1: 0})


def delivered(*batches: tuple[Row, ...], start: int = 0) -> list[Delivery]:
    return [Delivery(number, start, rows) for number, rows in enumerate(batches)]


KEPT = delivered((A0, A1), (B0,), (A2,), (A3,))


def test_a_clean_run_has_no_complaints() -> None:
    assert complaints(TRUTH, KEPT) == []


def test_an_uncommitted_batch_may_come_again_with_its_rows() -> None:
    assert complaints(TRUTH, [*KEPT, Delivery(1, 1, (B0,))]) == []


@pytest.mark.parametrize(
    ("deliveries", "said"),
    [
        (delivered((A0, A1), (B0,), (A2,)), "1 lost"),
        (delivered((A0, A1), (B0,), (A2,), (A3, B0)), "1 doubled"),
        (delivered((A0, A1, A1), (B0,), (A2,), (A3,)), "1 doubled"),
        (delivered((A1, A0), (B0,), (A2,), (A3,)), "key a has 0 after 1"),
        (delivered((A0, B0, A1), (A2,), (A3,)), "goes back to 11"),
        (delivered((A0, A1, B0, A2), (A3,)), f"{CHILD} begins in batch 0"),
        (delivered((A0, A1, B0), (A2, A3)), f"{GRANDCHILD} begins in batch 1"),
        (delivered((A0, A1), (A3,), (B0,), (A2,)), f"its ancestor {PARENT} ends in 2"),
        ([*KEPT, Delivery(0, 1, (A0, A1))], "batch 0 came again in start 1, after its commit"),
        ([*KEPT, Delivery(1, 1, ())], "batch 1 has 0 rows in start 1, others before"),
        ([*KEPT, Delivery(4, 0, (replace(A3, number=31),))], "never put"),
        ([*KEPT, Delivery(4, 0, (replace(A3, turn=4),))], "never put"),
    ],
)  # fmt: skip
def test_what_breaks_the_promise_is_seen(deliveries: list[Delivery], said: str) -> None:
    assert any(said in each for each in complaints(TRUTH, deliveries))


def test_what_a_start_at_latest_passes_over_is_not_owed_and_never_comes() -> None:
    passed = Truth({**PUTS, A0.place: Put("a", 0, due=False, past=True)}, TRUTH.parents)
    assert complaints(passed, delivered((A1,), (B0,), (A2,), (A3,))) == []
    assert any("before the start at LATEST" in each for each in complaints(passed, KEPT))
