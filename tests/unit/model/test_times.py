"""Times as people type them: the way out that an error names is one."""

from __future__ import annotations

import re

import pytest

from reshardctl.errors import UsageError
from reshardctl.model.times import (
    duration,
    instant,
    parse_instant,
    parse_seconds,
    parse_when,
    same_second,
)


@pytest.mark.parametrize("text", [
    "2026-12-01", "2026-12-01T09:14", "2026-12-01T09:14:00", "2026-12-01 09:14:00", "20261201",
])  # fmt: skip
def test_a_naive_time_is_refused_with_one_that_is_taken(text):
    with pytest.raises(UsageError, match="no zone") as refused:
        parse_instant(text)
    (offered,) = re.findall(r"add one: (\S+) for UTC", refused.value.next)
    assert parse_instant(offered) >= parse_instant("2026-12-01T00:00:00Z")


@pytest.mark.parametrize("text", [
    "1572297168.0", "1572297168", "2019-10-28T21:12:48+00:00", "2019-10-28T22:12:48+01:00",
    "2019-10-28T14:12:48.000000-07:00",
])  # fmt: skip
def test_what_the_aws_cli_prints_is_taken(text):
    """StreamCreationTimestamp of `aws kinesis describe-stream-summary`, in the example of its
    documentation (version 1), and as version 2 prints times: tests/golden/README.md."""
    assert parse_instant(text) == 1572297168.0
    assert parse_when(text).at == 1572297168.0


@pytest.mark.parametrize(("text", "seconds"), [
    ("1572297168000", "1572297168"), ("1572297168250", "1572297168.25"),
])  # fmt: skip
def test_milliseconds_are_named_with_their_seconds(text, seconds):
    with pytest.raises(UsageError, match="is in milliseconds") as refused:
        parse_instant(text, "--created")
    assert refused.value.next.endswith(f": {seconds}")
    parse_instant(seconds)


@pytest.mark.parametrize("text", ["15722971680000", "157229716", "1572297168.", "-1572297168.0",
                                  "1.572297168E9", "१५७२२९७१६८"])  # fmt: skip
def test_other_numbers_are_no_time(text):
    with pytest.raises(UsageError, match="is no time") as refused:
        parse_instant(text, "--created")
    assert "Unix seconds" in refused.value.next


@pytest.mark.parametrize(("seconds", "text"), [
    (0, "1970-01-01T00:00:00Z"), (1795220100000, "9999-12-31T23:59:59Z"),
    (9223372036854775.807, "9999-12-31T23:59:59Z"), (-1795220100000, "0001-01-01T00:00:00Z"),
])  # fmt: skip
def test_a_time_that_no_calendar_has_is_shown_as_its_first_or_last(seconds, text):
    """As of a store that holds microseconds where milliseconds are read."""
    assert instant(seconds) == text


@pytest.mark.parametrize(("text", "seconds"), [
    ("0s", 0), ("45s", 45), ("15m", 900), ("3h", 10_800), ("2d", 172_800), ("1h30m", 5400),
    ("1d1h1m1s", 90_061), ("1.5h", 5400), ("3650d", 315_360_000),
])  # fmt: skip
def test_a_duration_is_the_sum_of_its_parts(text, seconds):
    assert parse_seconds(text) == seconds
    assert parse_when(f"-{text}").ago == seconds


@pytest.mark.parametrize("text", ["", "90", "h", "1h30", "1 h", "-1h", "1w", "1H", "१h"])
def test_what_is_no_duration_is_refused_with_the_option(text):
    with pytest.raises(UsageError, match=r"^--shift: .* is no duration"):
        parse_seconds(text, "--shift")


def test_ten_years_are_the_longest():
    with pytest.raises(UsageError, match="longer than any retention"):
        parse_seconds("3650d1s")


@pytest.mark.parametrize(("seconds", "text"), [
    (0, "0s"), (0.9, "0s"), (1, "1s"), (59, "59s"), (60, "1m"), (61, "1m1s"), (3599, "59m59s"),
    (3600, "1h"), (3601, "1h"), (13_260, "3h41m"), (86_399, "23h59m"), (86_400, "1d"),
    (187_200, "2d4h"), (90_061, "1d1h"), (86_460, "1d"), (-13_260, "-3h41m"), (-1, "-1s"),
    (-0.9, "0s"),
])  # fmt: skip
def test_a_duration_is_shown_in_its_two_largest_units(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("apart", "same"), [(0.0, True), (1.0, True), (-1.0, True), (1.5, False)])
def test_a_printed_time_is_the_stored_one_up_to_a_second(apart, same):
    assert same_second(1_795_219_200.0, 1_795_219_200.0 + apart) is same
