"""One test for all situations of a case: its start modes, its releases, its options.

To set up, run and report a test takes pytest and xdist longer than most situations take to judge,
and there are thousands of them. A failure names every situation that failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from inspect import signature
from typing import Any

import pytest

from tests.support.needs import excluded

Situation = tuple[str, str, tuple[Any, ...]]
"""The case, the situation's own name, and the first arguments of the test."""


OTHERS = "others"
"""The id of the test of all cases that are not looked at at every turn."""


def by_case(
    situations: Iterable[Situation], few: Collection[str] | None = None
) -> Callable[[Callable[..., None]], Any]:
    """Make of a test of one situation a test of each case. What is skipped is skipped alone.

    few: the cases that are enough at every turn (`tests/support/covering.py`); all others are one
    test, marked `long`. An `only` mark (`tests/support/needs.py`) below it leaves situations out.
    """
    groups: dict[str, list[tuple[str, tuple[Any, ...]]]] = defaultdict(list)
    for case, name, values in situations:
        if few is None or case in few:
            groups[case].append((name, values))
        else:
            groups[OTHERS].append((f"{case} {name}".rstrip(), values))
    taken = len(next(iter(groups.values()))[0][1])

    def decorate(judge: Callable[..., None]) -> Any:
        def judged(situations: list[tuple[str, tuple[Any, ...]]], **more: Any) -> None:
            _all_hold(judge, situations, more)

        own = signature(judged)
        parameters = list(signature(judge).parameters.values())
        names, rest = [each.name for each in parameters[:taken]], parameters[taken:]
        shown = own.replace(parameters=[own.parameters["situations"], *rest])
        vars(judged)["__signature__"] = shown
        judged.__name__, judged.__doc__ = judge.__name__, judge.__doc__
        judged.__module__ = judge.__module__
        marks = getattr(judge, "pytestmark", [])
        vars(judged)["pytestmark"] = [mark for mark in marks if mark.name != "only"]
        only = [mark for mark in marks if mark.name == "only"]
        cases = [_case(case, group, names, only) for case, group in groups.items()]
        return pytest.mark.parametrize("situations", cases)(judged)

    return decorate


def _case(
    case: str, group: list[tuple[str, tuple[Any, ...]]], names: list[str], only: list[pytest.Mark]
) -> Any:
    """The situations of a case that its test is for; skipped, with the reason, if there is none."""
    kept, reason = [], None
    for name, values in group:
        params = dict(zip(names, values, strict=True))
        reasons = [why for mark in only if (why := excluded(mark, params)) is not None]
        if reasons:
            reason = reasons[0]
        else:
            kept.append((name, values))
    skipped = () if kept or reason is None else (pytest.mark.skip(reason=reason),)
    marks = (*skipped, pytest.mark.long) if case == OTHERS else skipped
    return pytest.param(kept, id=case, marks=marks)


def _all_hold(
    judge: Callable[..., None], situations: list[tuple[str, tuple[Any, ...]]], more: dict[str, Any]
) -> None:
    wrong: list[Exception] = []
    skipped = []
    for name, values in situations:
        try:
            judge(*values, **more)
        except pytest.skip.Exception as reason:
            skipped.append(reason)
        except Exception as error:
            error.add_note(f"in the situation {name}")
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise ExceptionGroup(f"{len(wrong)} of {len(situations)} situations", wrong)
    if len(skipped) == len(situations):
        raise skipped[0]
