"""What a command passes on of what its JVM says. Needs neither PySpark nor Java."""

from __future__ import annotations

import os
from pathlib import Path

from reshardctl.spark.session import pass_on


def test_what_java_says_of_every_start_is_left_out_and_nothing_else(tmp_path: Path) -> None:
    """As PySpark 4.3.0 prints it; a progress bar has no line end, and comes at once."""
    noise = b"WARNING: Using incubator modules: jdk.incubator.vector\n"
    out = (tmp_path / "stderr").open("wb")
    reading, writing = os.pipe()
    os.write(writing, noise + b"ERROR SparkContext: no\n\r[Stage 0:=>   (1 + 2) / 9]")
    os.close(writing)
    pass_on(reading, out.fileno())
    out.close()
    said = (tmp_path / "stderr").read_bytes()
    assert said == b"ERROR SparkContext: no\n\r[Stage 0:=>   (1 + 2) / 9]"
