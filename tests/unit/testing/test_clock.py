"""The virtual clock."""

from __future__ import annotations

import time

import pytest

from reshardctl.testing.stream import VirtualClock


def test_it_stands_until_it_is_moved() -> None:
    clock = VirtualClock(1000)
    assert clock.now() == 1000
    assert clock.advance(1.5) == 1001.5
    clock.set(2000)
    assert clock.now() == 2000


def test_it_never_runs_backwards() -> None:
    clock = VirtualClock(1000)
    with pytest.raises(ValueError, match="backwards"):
        clock.set(999)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)
    assert clock.now() == 1000


def test_it_may_run_with_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    real = 50.0
    monkeypatch.setattr(time, "monotonic", lambda: real)
    clock = VirtualClock(1000, ticking=True)
    real = 52.5
    assert clock.now() == 1002.5
    clock.advance(10)
    assert clock.now() == 1012.5
    clock.set(5000)
    real = 53.5
    assert clock.now() == 5001
