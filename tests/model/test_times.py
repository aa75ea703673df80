"""Times as people type them: the way out that an error names is one."""

from __future__ import annotations

import re

import pytest

from reshardctl.errors import UsageError
from reshardctl.model.times import parse_instant


@pytest.mark.parametrize("text", [
    "2026-12-01", "2026-12-01T09:14", "2026-12-01T09:14:00", "2026-12-01 09:14:00", "20261201",
])  # fmt: skip
def test_a_naive_time_is_refused_with_one_that_is_taken(text):
    with pytest.raises(UsageError, match="no zone") as refused:
        parse_instant(text)
    (offered,) = re.findall(r"add one: (\S+) for UTC", refused.value.next)
    assert parse_instant(offered) >= parse_instant("2026-12-01T00:00:00Z")
