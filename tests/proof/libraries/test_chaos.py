"""A short world of chaos (tests/proof/chaos) with a real library; `scripts/prove chaos` runs an
hour of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.proof.chaos import consumers
from tests.proof.chaos.consumers import Laboratory
from tests.proof.chaos.play import play

pytestmark = [
    pytest.mark.interop, pytest.mark.long,
    pytest.mark.needs("real-kcl", "real-kinesis-consumer", "redis"),
]
SEED = 14


@pytest.fixture(scope="module")
def servers() -> Iterator[Laboratory]:
    with ExitStack() as stack:
        yield Laboratory.opened(stack)


def test_nothing_is_lost_that_was_not_announced(servers: Laboratory, tmp_path: Path) -> None:
    played = play(SEED, servers, tmp_path / "world", "kinesis-consumer", rounds=1)
    print(*played.told, sep="\n")
    assert played.wrong == []
    assert played.counts["records delivered"]
    assert sum(count for what, count in played.counts.items() if " ended " in what) > 1


def test_a_consumer_that_swallows_a_record_is_noticed(
    servers: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivered = consumers._GoLife.delivered

    def but_for_one(life: consumers._GoLife) -> list[str]:
        return [payload for payload in delivered(life) if payload != "r1"]

    monkeypatch.setattr(consumers._GoLife, "delivered", but_for_one)
    played = play(SEED, servers, tmp_path / "world", "kinesis-consumer", rounds=1)
    print(*played.told, sep="\n")
    assert any("lost, and nobody said so: r1 " in each for each in played.wrong)
