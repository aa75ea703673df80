"""The options that `--live` excludes."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.errors import UsageError


def consistent(given: Mapping[str, bool]) -> None:
    """UsageError for an option that makes no sense while the application runs."""
    wrong = next((name for name, is_given in given.items() if is_given), None)
    if wrong == "--assume-stopped":
        raise UsageError(
            "--live and --assume-stopped exclude each other: the application runs, or it does not",
            "leave --assume-stopped out while a worker runs, else --live",
        )
    if wrong is not None:
        raise UsageError(
            f"--live and {wrong} exclude each other: a running application makes positions of "
            "its own meanwhile",
            "stop every worker first, and leave --live out",
        )
