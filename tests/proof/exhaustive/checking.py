"""All properties over one scene."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.proof.exhaustive import properties
from tests.proof.exhaustive.properties import Property
from tests.proof.exhaustive.scenes import Scene
from tests.proof.exhaustive.toml import case_file
from tests.proof.exhaustive.trials import Trial

LOSSLESS: tuple[Property, ...] = (
    properties.soundness, properties.idempotence, properties.effects_agree, properties.prefixes,
    properties.families, properties.completeness,
)

RANDOM, SLICE = 600, 47
"""The default tier: so many random scenes, and every so-manieth of the small ones. A part of it
is run at every turn (`scripts/test`), the rest with what takes longer; CI runs both."""

FORECASTS = 1200
"""Further random scenes of which only the forecast is compared."""


def violations(scene: Scene) -> Iterator[str]:
    """Everything that does not hold, each with the property's name."""
    trial = Trial(scene)
    yield from _named(properties.forecast, trial)
    if not scene.rows:  # a new application: nothing is mended unasked
        return
    for check in LOSSLESS:
        yield from _named(check, trial)
    if scene.undisturbed:
        yield from _named(properties.healthy, trial)
    yield from _named(properties.latest_at_start, Trial(scene, "latest-at-start"))


def _named(check: Property, trial: Trial) -> Iterator[str]:
    return (f"{check.__name__}: {text}" for text in check(trial))


def first_violation(scenes: Iterable[Scene]) -> str | None:
    """What does not hold in the first scene where something does not, with its case file."""
    for scene in scenes:
        if found := list(violations(scene)):
            told = "\n".join(found)
            return f"{scene.name}:\n{told}\n\n{case_file(Trial(scene))}"
    return None


def first_here(blocks: Iterable[int], count: int) -> list[Any]:
    """Parameters of which the first `count` are run at every turn, the others are long."""
    return [
        pytest.param(block, marks=pytest.mark.long if place >= count else ())
        for place, block in enumerate(blocks)
    ]


def seconds() -> float:
    """How long the long run may take; 0: there is none."""
    return float(os.environ.get("RESHARDCTL_SIM_SECONDS", "0"))
