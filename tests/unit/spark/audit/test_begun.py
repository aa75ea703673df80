"""What runs beside the calling thread: its result, its failure, and the properties that it has."""

from __future__ import annotations

from threading import current_thread
from typing import Any

import pytest

from reshardctl.spark.audit.audit import begun


@pytest.mark.parametrize("beside", [True, False])
def test_its_job_has_the_properties_of_the_calling_thread(spark: Any, beside: bool) -> None:
    """Whoever cancels their job group cancels this job as well."""
    context = spark.sparkContext
    context.setLocalProperty("spark.jobGroup.id", "ours")
    ours = current_thread()

    def work() -> tuple[str, bool, int]:
        group = context.getLocalProperty("spark.jobGroup.id")
        return group, current_thread() is ours, spark.range(3).count()

    try:
        waiting = begun(work, beside=beside)
        assert waiting() == ("ours", not beside, 3)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("beside", [True, False])
def test_its_failure_is_raised_where_the_result_is_asked_for(beside: bool) -> None:
    def work() -> None:
        raise ValueError("of the work")

    waiting = begun(work, beside=beside)
    with pytest.raises(ValueError, match="of the work"):
        waiting()
