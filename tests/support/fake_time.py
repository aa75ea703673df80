"""Time that passes only where somebody waits."""

from __future__ import annotations

from collections.abc import Callable

from reshardctl.testing import FakeKinesis


def sleep_of(fake: FakeKinesis) -> Callable[[float], None]:
    """A sleep that moves the fake's clock, and takes no time."""

    def sleep(seconds: float) -> None:
        fake.clock.advance(seconds)

    return sleep
