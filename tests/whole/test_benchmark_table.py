"""The table that a run of benchmarks ends with: its arithmetic, not its figures."""

from __future__ import annotations

from scripts.bench.targets import Figure, table


def test_the_table() -> None:
    """3 s beside 1.5 s is 2.00 times as long."""
    figures = [
        Figure("apply", "a loop", 3.0, 1.5, "s", 1.2),
        Figure("apply", "a loop", 3.0, 1.5, "s", 2.0),
        Figure("memory", "", 140.4, None, "MB", 150),
        Figure("other", "a loop", 0.5, 1.0, "s", None),
    ]
    assert table(figures).splitlines()[2:] == [
        "| apply | 3.00 s | a loop | 1.50 s | 2.00 | ≤ 1.2 | no |",
        "| apply | 3.00 s | a loop | 1.50 s | 2.00 | ≤ 2 | yes |",
        "| memory | 140 MB |  |  |  | ≤ 150 MB | yes |",
        "| other | 0.50 s | a loop | 1.00 s | 0.50 |  |  |",
    ]


def test_a_rival_that_took_no_time_is_divided_by_all_the_same() -> None:
    assert Figure("fast", "faster", 1.0, 0.0, "s", 2.0).met is False
