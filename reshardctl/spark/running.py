"""Progress of Spark's running jobs, as their driver reports it."""

from __future__ import annotations

from typing import Any


def tasks(session: Any) -> tuple[int, int] | None:
    """Finished tasks of the active stages, and all of them.

    `None` if this process has no driver, as with a Connect server, and between stages.
    """
    if "connect" in type(session).__module__:
        return None
    tracker = session.sparkContext.statusTracker()
    done = total = 0
    for stage in tracker.getActiveStageIds():
        if (stage_info := tracker.getStageInfo(stage)) is not None:
            done, total = done + stage_info.numCompletedTasks, total + stage_info.numTasks
    return (done, total) if total else None
