"""RSH232, see `pages/RSH232.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH232", "source-key-missing"


def match(view: View) -> Iterator[Finding]:
    """Error: the source does not start."""
    if crashes := tuple(view.harmed(Harm.CRASHES, Cause.NO_CHECKPOINT)):
        yield Finding(
            CODE, NAME, Severity.ERROR, (), "the source has no key in the checkpoint",
            crashes[0].why, crashes,
            helps="releases before 0.9 start from the beginning instead",
        )
