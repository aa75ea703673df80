"""Retention: more does not bring back what is gone, less drops at once (API references)."""

from __future__ import annotations

from tests.unit.testing.samples import CREATED, listed, read, refusal, split_stream


def test_less_drops_at_once() -> None:
    fake = split_stream(retention_hours=72, now=86400 + 1000)
    client = fake.client()
    assert list(listed(client)) == [0, 1, 2, 3]
    client.decrease_stream_retention_period(StreamName="orders", RetentionPeriodHours=24)
    assert list(listed(client)) == [1, 2, 3]
    assert read(client, 1) == ["s1-2", "s1-3"]


def test_more_brings_nothing_back() -> None:
    fake = split_stream(now=86400 + 1000)
    client = fake.client()
    client.increase_stream_retention_period(StreamName="orders", RetentionPeriodHours=72)
    assert list(listed(client)) == [1, 2, 3]
    assert read(client, 1) == ["s1-2", "s1-3"]
    fake.clock.set(CREATED + 3 * 86400)
    assert read(client, 1) == ["s1-2", "s1-3"]
    fake.clock.advance(1604)
    assert read(client, 1) == ["s1-3"]


def test_what_expires_between_two_calls_is_gone_for_good() -> None:
    fake = split_stream(now=86400 + 599)
    fake.clock.advance(2)
    client = fake.client()
    client.increase_stream_retention_period(StreamName="orders", RetentionPeriodHours=8760)
    assert list(listed(client)) == [1, 2, 3]


def test_the_wrong_way_and_too_short() -> None:
    # kinesalite's tests, which run against AWS.
    client = split_stream(retention_hours=48).client()
    code, text = refusal(
        client.increase_stream_retention_period, StreamName="orders", RetentionPeriodHours=24
    )
    assert code == "InvalidArgumentException"
    assert text.endswith(
        "can not be shorter than existing retention period (48 hours). Use "
        "DecreaseRetentionPeriod API."
    )
    code, text = refusal(
        client.decrease_stream_retention_period, StreamName="orders", RetentionPeriodHours=72
    )
    assert "can not be longer than existing retention period (48 hours)" in text
    code, text = refusal(
        client.decrease_stream_retention_period, StreamName="orders", RetentionPeriodHours=23
    )
    assert text.startswith("Minimum allowed retention period is 24 hours.")
    code, _ = refusal(
        client.increase_stream_retention_period, StreamName="orders", RetentionPeriodHours=8761
    )
    assert code == "ValidationException"
