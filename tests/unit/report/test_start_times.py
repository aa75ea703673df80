"""A start option with a time in the future is refused, for every library that takes one.

GetShardIterator: "The timestampInMillis parameter cannot be greater than the
currentTimestampInMillis" (AWS's text, which kinesalite's tests and runs have).
"""

from __future__ import annotations

import json

import pytest

from reshardctl.consumers import locator
from reshardctl.consumers.sequence_numbers import CLOCKS_APART
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.model.times import instant
from reshardctl.report.report import RepairOptions, case_of
from tests.support.case import CASES, Case, load
from tests.support.dialects import dialect_of
from tests.support.judging import lineage_of

KCL = load(CASES / "kcl" / "a-both.toml")
CONSUMERS = (
    "kcl://app?", "kcl://app?release=1.15&", "kinsumer://app?release=snowplow-1.7&",
    "kinesis-consumer+ddb://app?app=a&release=0.5.0&",
    "kinesis-consumer+redis://localhost/0?app=a&",
)
SPARK = ("s1-qubole", "s1-awslabs-1", "s1-awslabs-2", "lineage-split")


def told(text: str, case: Case) -> None:
    """Judge the case's stream with a consumer of these options; only Spark needs its files."""
    rows = tuple(dialect_of(case.consumer).images(case)) if case.consumer == "spark" else ()
    lineage = lineage_of(case.shards, case.stream["created"])
    case_of(Snapshot(locator.parse(text), lineage, rows, {}, float(case.now)), RepairOptions())


def later(seconds: float) -> str:
    return instant(KCL.now + seconds)


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_start_in_the_future_is_refused(consumer):
    time = later(CLOCKS_APART + 1)
    with pytest.raises(UsageError, match=f"initial=AT_TIMESTAMP:{time}: a time in the future") as e:
        told(f"{consumer}initial=AT_TIMESTAMP:{time}", KCL)
    assert later(0) in e.value.what and "give a time that has passed" in e.value.next


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_the_clocks_may_differ(consumer):
    told(f"{consumer}initial=AT_TIMESTAMP:{later(CLOCKS_APART - 1)}", KCL)
    told(f"{consumer}initial=AT_TIMESTAMP:{later(-60)}", KCL)
    told(f"{consumer}initial=TRIM_HORIZON", KCL)


@pytest.mark.parametrize("name", SPARK)
def test_a_start_of_spark_in_the_future_is_refused(name):
    case = load(CASES / "spark" / f"{name}.toml")
    one, other = (shard["ShardId"] for shard in case.shards[:2])
    ahead, passed = case.now + CLOCKS_APART + 1, case.now - 60
    spark = "spark:/c?startingPosition="
    with pytest.raises(UsageError, match=r"startingPosition=AT_TIMESTAMP:.*: a time in the future"):
        told(f"{spark}AT_TIMESTAMP:{instant(ahead)}", case)
    told(f"{spark}AT_TIMESTAMP:{instant(passed)}", case)
    named = json.dumps({one: {"AT_TIMESTAMP": passed}, other: {"AT_TIMESTAMP": ahead}})
    with pytest.raises(UsageError, match=f"startingPosition of {other}: .* in the future"):
        told(spark + named, case)
    told(spark + json.dumps({one: {"AT_TIMESTAMP": passed}, other: "TRIM_HORIZON"}), case)
