"""The stream that most tests begin with, and a reader of it."""

from __future__ import annotations

import pytest

from reshardctl.testing import FakeKinesis
from tests.unit.kinesis.streams import Asked, in_process, split_stream


@pytest.fixture
def fake() -> FakeKinesis:
    """`SPLIT`: 0 was split into 2 and 3; 1 is open; an hour old."""
    return split_stream()


@pytest.fixture
def asked(fake: FakeKinesis) -> Asked:
    """A reader in this process."""
    return in_process(fake)
