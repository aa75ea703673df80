"""The source kinesis-lineage on real PySpark, soaked; and what it does where records are gone.

What has to hold is in tests/interop/spark/soak/judging.py. The seeds here run at every turn;
scripts/soak runs as many as wanted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reshardctl.testing import serve
from tests.interop.spark import built
from tests.interop.spark.soak.moving import STREAM
from tests.interop.spark.soak.scenes import BROKEN, HOW, Source, drawn
from tests.interop.spark.soak.soaking import Soak, Soaked
from tests.interop.spark.tool import OK, Tool

pytestmark = pytest.mark.interop

OLDEST, NEWEST = "4.0", "4"
SEEDS = (0, 2, 3)
"""Rows collected, AvailableNow over and over, and Spark's own file sink."""
LIVES = 3


@pytest.fixture(autouse=True)
def spark_is_there() -> None:
    for release in (OLDEST, NEWEST):
        if (reason := built.missing(release)) is not None:
            (pytest.fail if built.required() else pytest.skip)(reason)


@pytest.mark.parametrize("release", [OLDEST, NEWEST])
@pytest.mark.parametrize("seed", SEEDS)
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
