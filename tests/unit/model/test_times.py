"""Times as people type them: the way out that an error names is one."""

from __future__ import annotations

import re

import pytest

from reshardctl.errors import UsageError
from reshardctl.model.times import instant, parse_instant


@pytest.mark.parametrize("text", [
    "2026-12-01", "2026-12-01T09:14", "2026-12-01T09:14:00", "2026-12-01 09:14:00", "20261201",
])  # fmt: skip
def test_a_naive_time_is_refused_with_one_that_is_taken(text):
    with pytest.raises(UsageError, match="no zone") as refused:
        parse_instant(text)
    (offered,) = re.findall(r"add one: (\S+) for UTC", refused.value.next)
    assert parse_instant(offered) >= parse_instant("2026-12-01T00:00:00Z")


@pytest.mark.parametrize(("seconds", "text"), [
    (0, "1970-01-01T00:00:00Z"), (1795220100000, "9999-12-31T23:59:59Z"),
    (9223372036854775.807, "9999-12-31T23:59:59Z"), (-1795220100000, "0001-01-01T00:00:00Z"),
])  # fmt: skip
def test_a_time_that_no_calendar_has_is_shown_as_its_first_or_last(seconds, text):
    """As of a store that holds microseconds where milliseconds are read."""
    assert instant(seconds) == text
