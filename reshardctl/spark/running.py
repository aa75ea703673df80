"""How far Spark's running jobs are, as their driver tells."""

from __future__ import annotations

from typing import Any


def tasks(session: Any) -> tuple[int, int] | None:
    """Of the stages that run now: tasks done, and all of them. `None` where no driver of this
    process can be asked, as with a Connect server, and between stages."""
    if "connect" in type(session).__module__:
        return None
    tracker = session.sparkContext.statusTracker()
    done = total = 0
    for stage in tracker.getActiveStageIds():
        if (found := tracker.getStageInfo(stage)) is not None:
            done, total = done + found.numCompletedTasks, total + found.numTasks
    return (done, total) if total else None
