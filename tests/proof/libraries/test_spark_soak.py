"""The source kinesis-lineage on real PySpark, soaked; and what it does where records are gone.

What has to hold is in tests/proof/libraries/spark/soak/judging.py. Each way of running a query, and
each release, is soaked at every turn; the other pairs are marked `long`
(tests/proof/libraries/run --all), and `scripts/test soak` runs as many seeds as wanted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reshardctl.testing import serve
from tests.proof.libraries.spark.soak.moving import STREAM
from tests.proof.libraries.spark.soak.scenes import BROKEN, HOW, Source, drawn
from tests.proof.libraries.spark.soak.soaking import Soak, Soaked
from tests.proof.libraries.spark.tool import OK, Tool

pytestmark = [pytest.mark.interop, pytest.mark.needs("spark-4.0", "spark-4")]

OLDEST, NEWEST = "4.0", "4"
COLLECTED, AVAILABLE_NOW, FILES = 0, 2, 3
"""The seeds, by their way: rows collected, AvailableNow over and over, Spark's own file sink."""
SOAKED = [
    pytest.param(seed, release, marks=() if at_every_turn else pytest.mark.long)
    for seed, release, at_every_turn in (
        (COLLECTED, NEWEST, True), (AVAILABLE_NOW, OLDEST, True), (FILES, NEWEST, True),
        (COLLECTED, OLDEST, False), (AVAILABLE_NOW, NEWEST, False), (FILES, OLDEST, False),
    )
]  # fmt: skip
LIVES = 3


@pytest.mark.parametrize(("seed", "release"), SOAKED)
def test_nothing_is_lost_and_only_what_was_uncommitted_comes_again(
    seed: int, release: str, tmp_path: Path
) -> None:
    """Splits, merges, trims, faults and kills. Afterwards our own command finds nothing wrong."""
    soaked = Soak(drawn(seed, release, lives=LIVES), tmp_path).run()
    print(soaked)
    assert soaked.complaints == []
    assert soaked.counts["records"] and soaked.counts["kills"]
    _healthy(soaked, tmp_path)


def _healthy(soaked: Soaked, folder: Path) -> None:
    with serve(soaked.fake) as server:
        tool = Tool(folder / "state", {"kinesis": server.url})
        start = soaked.scene.options.get("startingPosition", "TRIM_HORIZON")
        locator = f"spark:{soaked.checkpoint}?startingPosition={start}"
        answer = tool.inspect(locator, STREAM)
    assert (answer.code, answer.codes) == (OK, set())


def test_a_broken_source_does_not_pass(tmp_path: Path) -> None:
    """One that admits children together with their parents; broken.py has more of the kind."""
    source = Source(BROKEN, variables=((HOW, "hasty"),))
    soaked = Soak(drawn(1, NEWEST, source, lives=1), tmp_path).run()
    print(soaked)
    assert any("begins in batch" in each for each in soaked.complaints)
