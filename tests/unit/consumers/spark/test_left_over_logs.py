"""Logs that are left over of batches further ahead than the one to come: no single place says what
awslabs' connector makes of them, so nothing is forecast.

The reference consumer (planInputPartitions, latestOffset, HDFSMetadataCommitter with OVERWRITE):
the shard runs in the batch to come, not in the one of the log, and begins where the log says then.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.spark.encode import edited
from reshardctl.consumers.spark.files import by_folder
from reshardctl.consumers.spark.sources import wants
from reshardctl.errors import CannotTell
from reshardctl.model import Image
from tests.proof.reference.test_spark_cases import Situation
from tests.support.case import CASES, all_cases, load
from tests.support.dialects.spark import images
from tests.support.judging import Bench

RELEASE = "awslabs-2.0.0"
LOG = "sources/0/shard-source"
(CASE,) = [case for case in all_cases("spark") if case.name == "stale-log-time-awslabs-2"]


def moved(batch: int, text: str = "") -> Iterator[Image]:
    """The left-over log of batch 1 as that of a later one; text: what it says instead."""
    for image in images(CASE):
        key = image.key.replace(f"{LOG}/1", f"{LOG}/{batch}")
        changed = {"text": {"S": text}} if text and key.endswith("0001") else image.attributes
        yield Image(key, changed if key != image.key else image.attributes)


def bench(batch: int, text: str = "") -> Bench:
    rows = sorted(moved(batch, text), key=lambda image: image.key)
    return Bench.on(CASE, rows, {"startingPosition": "TRIM_HORIZON", "release": RELEASE})


def test_the_reference_reads_before_and_again(tmp_path: Path) -> None:
    one = Situation(CASE, CASE.expects[0], "TRIM_HORIZON", RELEASE)
    ran = one.start(sorted(moved(2), key=lambda image: image.key), tmp_path, together=True)
    again = ["s1-0", "s1-1", "s1-2", "s1-1", "s1-2", "n1-0", "n1-1"]
    assert ran.delivered["shardId-000000000001"] == again


@pytest.mark.parametrize("batch", [2, 3, 40])
def test_a_time_in_a_log_further_ahead_is_refused(batch: int) -> None:
    with pytest.raises(CannotTell) as refused:
        bench(batch)
    assert f"{LOG}/{batch}/shardId-000000000001 is left over" in refused.value.what


def test_an_end_there_is_a_bound_and_no_more() -> None:
    entry = '{"shardId":"shardId-000000000001","iteratorType":"SHARD_END","iteratorPosition":""'
    bench(2, f'{entry},"subSequenceNumber":-1,"isLast":true}}')


def test_all_folders_beyond_are_looked_into() -> None:
    names = [image for image in moved(40) if image.key.endswith("/")]
    rest = [image for image in moved(40) if image.key.startswith("offsets/")]
    seen = wants(by_folder([*names, *rest]))
    assert f"{LOG}/40" in seen.folders


@pytest.mark.parametrize(("name", "why"), [
    ("1/notes.txt", "batch 1 writes its own beside it"),
    ("1", "batch 1 needs a folder of that name"),
])  # fmt: skip
def test_a_file_in_the_way_of_the_next_batch_s_log_crashes_it(name: str, why: str) -> None:
    """HDFSMetadataCommitter.create makes the folder unless its name is taken, and add a file in it.

    awslabs plans no batch without records (avoidEmptyBatches), so an idle query does not crash.
    """
    (case,) = [one for one in all_cases("spark") if one.name == "stray-in-next-log-awslabs-2"]
    kept = [image for image in images(case) if not image.key.startswith(f"{LOG}/1")]
    stray = Image(f"{LOG}/{name}", {"text": {"S": "kept for later"}})
    rows = sorted([*kept, stray], key=lambda image: image.key)
    start = {"startingPosition": "TRIM_HORIZON", "release": RELEASE}
    (run,) = Bench.on(case, rows, start).replays()
    assert run.crash is not None and why in run.crash.why and not run.crash.certain


def test_a_batch_that_says_already_what_is_wanted_only_loses_its_log():
    """So that it runs as it is planned."""
    case = load(CASES / "spark" / "half-logged-awslabs-1.toml")
    expect = case.expects[0]
    posed = Bench.of(case, expect.initial[0], expect.releases[-1]).plan_case
    checkpoint = posed.checkpoint()
    batch = checkpoint.newest_batch
    app: Any = posed.candidates[0].app
    steps = edited(checkpoint, batch, batch.positions, app.traits)
    assert [step.title for step in steps] == [
        "remove shardId-000000000000 from the log of batch 1"
    ]
