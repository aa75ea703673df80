"""Media of files: Spark checkpoints of every connector, and Quickwit's metastore."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from tests.cli.damaged.file_damages import damage_a_file
from tests.cli.damaged.medium import Medium, Setting, Store
from tests.cli.lab import Lab
from tests.cli.quickwit_lab import quickwit_lab
from tests.cli.spark_lab import HEAD, QUBOLE, V1, spark_lab

UNNAMED = (
    "offsets/", "no source of this query reads Kinesis", "holds no log of the connector",
    "'0' is not listed",
)
"""What is said of the checkpoint as a whole, or of the shard that was asked for."""
LINEAGE = "kinesis-lineage"
RONCEMER = "roncemer-1.2.3_spark-3.2"
OPTIONS = {
    LINEAGE: "?sink=other", RONCEMER: f"?release={RONCEMER}&startingPosition=LATEST&sink=other",
}  # fmt: skip
SPARK = [
    (RONCEMER, "s3", "qubole-1.2.0_spark-3.0"),
    (QUBOLE, "s3", ""), (QUBOLE, "u1", ""), (V1, "s3", ""), (V1, "u1", ""), (HEAD, "s1", ""),
    (HEAD, "u1", ""), (HEAD, "s1", "awslabs-head-0f4c005-spark-4.3"),
    (LINEAGE, "l1", "kinesis-lineage-4.3.0"), (LINEAGE, "s1x", "kinesis-lineage-4.3.0"),
]  # fmt: skip
QUICKWIT = [("0.9.0", "q3"), ("0.9.0", "q6"), ("0.8.2", "q3"), ("0.8.2", "q5")]
FEW = [SPARK[0], SPARK[2], SPARK[4], SPARK[6], SPARK[9], QUICKWIT[1], QUICKWIT[3]]
"""One of each connector and of each release of Quickwit at every turn."""


def contents(root: Path) -> dict[str, bytes | str]:
    """Every file's bytes, and what else there is: kinds of it."""
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "neither"
        whole = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(root))] = path.read_bytes() if whole else kind
    return found


def of_files(lab: Lab, root: Path) -> Store:
    """The store of a lab whose positions are files below a folder."""

    def damage(dice: Random) -> tuple[tuple[str, ...], str]:
        path, how = damage_a_file(dice, root)
        key = path.relative_to(root)
        return (str(root), str(key), key.parts[0], *UNNAMED), f"{key}: {how}"

    stored = partial(contents, root)
    return Store(lab, damage, stored, stored)


@contextmanager
def checkpoint(release: str, shape: str, folder: str, setting: Setting) -> Iterator[Store]:
    with spark_lab(release, shape, *setting.basics, OPTIONS.get(release), folder) as lab:
        yield of_files(lab, lab.root)


@contextmanager
def metastore(release: str, state: str, setting: Setting) -> Iterator[Store]:
    named = "&index=audit" if state == "q6" else ""
    with quickwit_lab(release, state, *setting.basics, named) as lab:
        yield of_files(lab, lab.root)


MEDIA = [
    *(Medium("-".join(filter(None, ("spark", *state))), partial(checkpoint, *state),
             few=int(state in FEW)) for state in SPARK),
    *(Medium("-".join(("quickwit", *state)), partial(metastore, *state), few=int(state in FEW))
      for state in QUICKWIT),
]  # fmt: skip
