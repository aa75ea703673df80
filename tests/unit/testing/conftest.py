"""The stream that most tests of the fake begin with, and a client of it."""

from __future__ import annotations

import pytest

from reshardctl.testing import FakeKinesis
from reshardctl.testing.fake import Client
from tests.unit.testing.samples import split_stream


@pytest.fixture
def fake() -> FakeKinesis:
    """`samples.SPLIT`: 0 was split into 2 and 3; 1 is open; an hour old."""
    return split_stream()


@pytest.fixture
def client(fake: FakeKinesis) -> Client:
    return fake.client()
