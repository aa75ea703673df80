"""RSH232, see `pages/RSH232.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH232", "source-key-missing")
def source_key_missing(view: View) -> Iterator[Found]:
    """Error: the source does not start."""
    if crashes := tuple(view.harmed(Harm.CRASHES, Cause.NO_CHECKPOINT)):
        yield Found(
            Severity.ERROR, (), "the source has no key in the checkpoint",
            crashes[0].why, crashes,
            helps="releases before 0.9 start from the beginning instead",
        )
