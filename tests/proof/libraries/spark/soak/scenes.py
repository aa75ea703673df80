"""What a seed stands for: the query's options, its sink, and how each of its lives ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

COLUMNS = ("shard_id AS shard", "sequence_number AS number", "CAST(data AS STRING) AS data")
POINTS = ("before", "within", "after")
HOW = "SOAK_BROKEN"
"""The variable that says which way the source of broken.py is broken."""
BROKEN = "tests.proof.libraries.spark.soak.broken:register"


@dataclass(frozen=True, slots=True)
class Source:
    """A source under test, and how it is spoken to."""

    register: str = "reshardctl.spark.source:register"
    """module:function, called with the session."""
    format: str = "kinesis-lineage"
    columns: tuple[str, ...] = COLUMNS
    endpoint: str = "endpointUrl"
    more: tuple[tuple[str, str], ...] = (("region", "us-east-1"),)
    optional: bool = True
    """Whether it knows the options that a scene draws."""
    variables: tuple[tuple[str, str], ...] = ()
    """Of the environment of its process."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How one start of the query ends.

    how: kill (the sink kills all at a point), torn (killed from outside while a batch is planned
    and not committed), any (killed at any moment), fail (the sink raises) or stop.
    """

    how: str
    where: str = ""
    batches: int = 1
    """After how many more batches, where the sink does it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One soak."""

    seed: int
    release: str
    sink: str
    options: dict[str, str]
    trigger: dict[str, Any]
    endings: tuple[Ending, ...]
    source: Source = field(default_factory=Source)

    @property
    def latest(self) -> bool:
        return self.options.get("startingPosition") == "LATEST"

    def __str__(self) -> str:
        options = " ".join(f"{name}={value}" for name, value in self.options.items())
        ends = " ".join(f"{each.how}{'-' * bool(each.where)}{each.where}" for each in self.endings)
        return (
            f"seed {self.seed} release {self.release} {self.sink} {self.trigger} {options} {ends}"
        )


def drawn(seed: int, release: str, source: Source | None = None, lives: int = 5) -> Scene:
    """The scene of a seed; the same for every release."""
    dice = Random(1_000_003 * seed + 7)
    source = source or Source()
    sink = "file" if seed % 4 == 3 else "batches"
    options = _options(dice) if source.optional else {}
    trigger = {"availableNow": True} if seed % 3 == 2 else {"processingTime": "0 seconds"}
    endings = tuple(_ending(dice, sink) for _ in range(lives))
    return Scene(seed, release, sink, options, trigger, endings, source)


def _options(dice: Random) -> dict[str, str]:
    drawn = {
        "startingPosition": dice.choice(("TRIM_HORIZON", "TRIM_HORIZON", "LATEST")),
        "maxRecordsPerTrigger": dice.choice(("", "", "25", "60")),
        "failOnDataLoss": dice.choice(("", "true", "false")),
        "shardsPerTask": dice.choice(("", "3")),
    }
    return {name: value for name, value in drawn.items() if value}


def _ending(dice: Random, sink: str) -> Ending:
    """The file sink is Spark's own: nothing in it can be told to die."""
    how = dice.choice(("torn", "any", "stop")) if sink == "file" else dice.choices(
        ("kill", "torn", "any", "fail", "stop"), weights=(5, 2, 2, 1, 1)
    )[0]  # fmt: skip
    if how in ("kill", "fail"):
        return Ending(how, dice.choice(POINTS), dice.randint(1, 4))
    return Ending(how)
