"""Damaged files: Spark checkpoints of every connector, and Quickwit's metastore."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from tests.cli.damaged.file_damages import damage_a_file
from tests.cli.damaged.judging import Damaged, judge, positions
from tests.cli.damaged.seeds import seeded
from tests.cli.lab import Lab, Wire, opened
from tests.cli.quickwit_lab import QuickwitLab
from tests.cli.quickwit_lab import golden_fake as quickwit_fake
from tests.cli.quickwit_lab import planted as quickwit_planted
from tests.cli.spark_lab import HEAD, QUBOLE, V1, spark_lab

pytestmark = pytest.mark.timeout(300)  # pipes and loops: whoever waits for one hangs

UNNAMED = (
    "offsets/", "no source of this query reads Kinesis", "holds no log of the connector",
    "'0' is not listed",
)
"""What is said of the checkpoint as a whole, or of the shard that was asked for."""
LINEAGE = "kinesis-lineage"
RONCEMER = "roncemer-1.2.3_spark-3.2"
SPARK = [
    (RONCEMER, "s3", "qubole-1.2.0_spark-3.0"),
    (QUBOLE, "s3", ""), (QUBOLE, "u1", ""), (V1, "s3", ""), (V1, "u1", ""), (HEAD, "s1", ""),
    (HEAD, "u1", ""), (HEAD, "s1", "awslabs-head-0f4c005-spark-4.3"),
    (LINEAGE, "l1", "kinesis-lineage-4.3.0"), (LINEAGE, "s1x", "kinesis-lineage-4.3.0"),
]  # fmt: skip
QUICKWIT = [("0.9.0", "q3"), ("0.9.0", "q6"), ("0.8.2", "q3"), ("0.8.2", "q5")]


def contents(root: Path) -> dict[str, bytes | str]:
    """Every file's bytes, and what else there is: kinds of it."""
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "neither"
        whole = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(root))] = path.read_bytes() if whole else kind
    return found


def damage_and_judge(lab: Lab, root: Path, dice: Random, what: str) -> None:
    stood = positions(lab)
    path, how = damage_a_file(dice, root)
    key = path.relative_to(root)
    judge(Damaged(
        lab, f"{what}: {key}: {how}", lambda: contents(root), lambda: contents(root),
        (str(root), str(key), key.parts[0], *UNNAMED), stood,
    ))  # fmt: skip


@pytest.mark.parametrize(("state", "seeds"), seeded(SPARK))
def test_a_damaged_checkpoint(servers, tmp_path, monkeypatch, state, seeds):
    release, shape, folder = state
    options = {
        LINEAGE: "?sink=other", RONCEMER: f"?release={RONCEMER}&startingPosition=LATEST&sink=other",
    }.get(release)
    for seed in seeds:
        own = tmp_path / str(seed)
        own.mkdir()
        with spark_lab(
            release, shape, servers, own, monkeypatch, Wire(), options, folder
        ) as lab:
            damage_and_judge(lab, lab.root, Random(f"spark {state} {seed}"), f"seed {seed}")


@pytest.mark.parametrize(("state", "seeds"), seeded(QUICKWIT))
def test_a_damaged_metastore(servers, tmp_path, monkeypatch, state, seeds):
    release, shape = state
    for seed in seeds:
        own = tmp_path / str(seed)
        with ExitStack() as stack:
            base = stack.enter_context(opened(
                servers, quickwit_fake(shape), [], own / "state", monkeypatch, Wire()
            ))
            root = quickwit_planted(own / "indexes", release, shape)
            lab = QuickwitLab(
                base.servers, base.fake, base.table, base.state, base.wire, "events",
                f"?release={release}" + ("&index=audit" if shape == "q6" else ""),
                base.on_sleep, base.slept, root=root,
            )
            damage_and_judge(lab, root, Random(f"quickwit {state} {seed}"), f"seed {seed}")
