"""What became of a step whose answer was lost: its rows are the only witness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reshardctl.errors import AnswerLost, ReshardError
from reshardctl.model import Image, Step
from reshardctl.model.write_state import Standing, standing

Get = Callable[[Sequence[str]], dict[str, Image | None]]


def landed(step: Step, get: Get) -> bool:
    """Whether it is in place; False where every row is as before. AnswerLost for anything else."""
    try:
        rows = get([write.key for write in step.writes])
    except ReshardError as error:
        raise AnswerLost(
            f"{step.title}: the answer was lost, and then reading failed: {error.what}", error.next
        ) from None
    stands = {standing(write, rows[write.key]) for write in step.writes}
    if stands == {Standing.LANDED}:
        return True
    if stands == {Standing.AS_BEFORE}:
        return False
    moved = [w.key for w in step.writes if standing(w, rows[w.key]) is Standing.MOVED]
    raise AnswerLost(
        f"{step.title}: the answer was lost, and someone else has written since: "
        f"{', '.join(moved) or 'only some rows are as written'}"
    )


def uncertain(error: ReshardError) -> AnswerLost:
    """A failure after an answer was lost: what went before it may be in place yet."""
    return AnswerLost(f"{error.what}; an earlier attempt may still land", error.next)
