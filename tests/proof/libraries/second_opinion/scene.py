"""The same questions to two services: small scripts whose answers can be compared.

A scene makes streams of its own and returns its answers by name. What may differ between two good
services (numbers, times, texts of errors) is left out or brought to a common form.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from tests.proof.libraries.second_opinion.service import Service

Answers = dict[str, Any]
"""What a service answered, by question."""
SCENES: dict[str, Callable[[Service], Answers]] = {}
"""Every scene by its name; `scenes` imports them all."""

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
LATER = datetime(2100, 1, 1, tzinfo=UTC)


def scene(build: Callable[[Service], Answers]) -> Callable[[Service], Answers]:
    """Takes a script in under its name."""
    SCENES[build.__name__] = build
    return build
