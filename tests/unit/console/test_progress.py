"""Counts at a terminal: how many, how fast, how long it still takes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from reshardctl.console import progress
from reshardctl.model.retry import asking


@pytest.mark.parametrize(
    ("done", "total", "rate", "expected"),
    [
        (1_200, 48_000, 400.0, "1,200 of 48,000 files read, 400 a second, 1m57s left"),
        (1_200, None, 400.0, "1,200 files read, 400 a second"),
        (3, 10, 0.05, "3 of 10 files read, 3 a minute, 2m20s left"),
        (10, 10, 5.0, "10 of 10 files read, 5 a second"),
        (1, 10, 0.0, "1 of 10 files read"),
    ],
)
def test_a_sentence(done: int, total: int | None, rate: float, expected: str) -> None:
    assert progress.sentence("files read", done, total, rate) == expected


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    monkeypatch.setenv("COLUMNS", "60")
    yield terminal
    progress.clear()
    progress.silence(False)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_nothing_is_shown_of_what_takes_less_than_a_second(screen, clock) -> None:
    count = progress.counter("rows read")
    for done in (100, 200, 300):
        clock[0] += 0.3
        count(done)
    assert screen.getvalue() == ""


def test_the_rate_is_that_since_the_first_count(screen, clock) -> None:
    count = progress.counter("rows read")
    for done in (100, 200, 300, 400):
        count(done, 1000)
        clock[0] += 0.5
    count(500, 1000)
    shown = screen.getvalue().split("\r\x1b[K")[-1]
    assert shown == "500 of 1,000 rows read, 200 a second, 3s left"


def test_a_smaller_count_begins_anew(screen, clock) -> None:
    count = progress.counter("rows read")
    for done in (100, 200, 300, 50, 60):
        count(done)
        clock[0] += 0.9
    shown = screen.getvalue().split("\r\x1b[K")[1:]
    assert shown == ["300 rows read, 111 a second"]


def test_a_line_never_wraps(screen) -> None:
    progress.phase("x" * 100)
    assert screen.getvalue() == "\r\x1b[K" + "x" * 59


def test_quiet_shows_nothing(screen) -> None:
    progress.silence(True)
    progress.phase("watching")
    progress.note("a note")
    assert screen.getvalue() == ""


def test_nothing_is_shown_without_a_terminal(monkeypatch: pytest.MonkeyPatch, clock) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=pipe))
    count = progress.counter("rows read")
    for done in range(1, 100):
        clock[0] += 1
        count(done)
    assert pipe.getvalue() == ""


def test_a_service_that_does_not_answer_is_named_after_a_second(screen, clock) -> None:
    silence = progress.Silence()
    with asking("http://127.0.0.1:9"):
        silence.look()
        clock[0] += 0.9
        silence.look()
        assert screen.getvalue() == ""
        clock[0] += 1.2
        silence.look()
        said = "\r\x1b[K2 s without an answer from http://127.0.0.1:9"
        assert screen.getvalue() == said
        silence.look()
        assert screen.getvalue() == said
    silence.look()
    assert screen.getvalue() == f"{said}\r\x1b[K"


def test_each_question_is_waited_for_by_itself(screen, clock) -> None:
    silence = progress.Silence()
    for _ in range(9):
        with asking("http://127.0.0.1:9"):
            silence.look()
            clock[0] += 0.5
            silence.look()
    assert screen.getvalue() == ""


def test_another_line_stays_when_the_service_answers(screen, clock) -> None:
    silence = progress.Silence()
    with asking("redis://h:6379/0"):
        silence.look()
        clock[0] += 2
        silence.look()
        progress.phase("29s left")
    silence.look()
    assert screen.getvalue().endswith("29s left")
