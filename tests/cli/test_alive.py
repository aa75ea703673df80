"""Signs of life while Spark works."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace

import pytest

from reshardctl.console.spark_progress import alive, sentence
from reshardctl.spark.session import tasks


def test_it_says_how_far_it_is_and_for_how_long():
    assert sentence("reading /lake", (34, 2000), 72.4) == (
        "reading /lake: 34 of 2,000 tasks of this stage, for 1m12s"
    )
    assert sentence("reading /lake", None, 5) == "reading /lake: for 5s"


@pytest.mark.parametrize("room", [10, 40, 79])
def test_it_never_needs_a_second_line_of_a_terminal(room):
    said = sentence("reading s3a://" + "long/" * 20, (1, 2), 5, room)
    assert len(said) <= room and (room < 40 or said.endswith(" 1 of 2 tasks of this stage, for 5s"))


def test_a_log_hears_of_it_again_and_again(capsys):
    asked = [Event(), Event()]

    def working():
        asked[asked[0].is_set()].set()
        return 1, 2

    with alive("reading /lake", working, every=0.01):
        assert asked[1].wait(60)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "reading /lake"
    assert lines[1].startswith("reading /lake: 1 of 2 tasks of this stage, for ")


def test_a_driver_that_is_gone_is_not_told_here(capsys):
    asked = Event()

    def gone():
        asked.set()
        raise ConnectionError

    with pytest.raises(KeyError), alive("reading /lake", gone, every=0.01):
        assert asked.wait(60)
        raise KeyError
    assert capsys.readouterr().err.splitlines() == ["reading /lake"]


def test_tasks_of_all_stages_that_run():
    """As PySpark's StatusTracker gives them; a stage that has just ended has no more to say."""
    stages = {
        3: SimpleNamespace(numTasks=200, numCompletedTasks=30),
        4: SimpleNamespace(numTasks=10, numCompletedTasks=4), 5: None,
    }
    tracker = SimpleNamespace(getActiveStageIds=lambda: list(stages), getStageInfo=stages.get)
    session = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))
    assert tasks(session) == (34, 210)
    stages.clear()
    assert tasks(session) is None
