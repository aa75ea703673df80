"""A commit or `metadata` that Spark cannot read at its next start.

Runs on Spark 3.5.9 and 4.1.4 (November 2026): with the newest `commits/N` empty, as a power loss
leaves it, or without a version, and with an unreadable `metadata`, the query fails at its start.
With `commits/N` removed batch N runs again: its records come twice, and nothing is lost.
"""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.model import Delete, Image, after
from reshardctl.planning.decision import Nothing, Plan
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Case, decide
from tests.support.spark_recorded import DIES, FOLDERS, HEAD, QUBOLE, V1, Recorded, delivered

ID = "69880f2a-f006-496b-9513-9120bf42d838"
SPOILED = ["", "{}", 'v1\n{"nextBatch', "v1\nnull"]


def with_file(images: list[Image], key: str, text: str) -> list[Image]:
    return [
        replace(one, attributes={**one.attributes, "text": {"S": text}}) if one.key == key else one
        for one in images
    ]


def planned(recorded: Recorded, images: list[Image]) -> tuple[Plan, Case]:
    """The plan, and the case that it leaves."""
    case = recorded.case(images)
    assert delivered(recorded, case) == DIES
    plan = decide(case)
    assert isinstance(plan, Plan), plan
    return plan, recorded.case(after(case.images, plan.steps))


@pytest.mark.parametrize("text", SPOILED)
@pytest.mark.parametrize("release", [QUBOLE, V1])
def test_the_newest_commit(release: str, text: str) -> None:
    """s2 loses nothing as it was recorded: the removal of commits/0 is all that it takes."""
    recorded = Recorded("s2", release, FOLDERS[release])
    plan, mended = planned(recorded, with_file(recorded.images, "commits/0", text))
    ((write,),) = [step.writes for step in plan.steps]
    assert write.key == "commits/0" and isinstance(write.change, Delete)
    again = {e.shard for run in plan.after for e in run if e.harm is Harm.REREAD}
    assert "shardId-000000000000" in again, "batch 0 runs again, and the plan says so"
    came = delivered(recorded, mended)
    assert isinstance(came, dict)
    sound = delivered(recorded, recorded.case())
    assert isinstance(sound, dict)
    assert all(set(rows) <= set(came[shard]) for shard, rows in sound.items())
    if release == QUBOLE:  # run on Spark 3.5.9: tests/proof/libraries/test_spark_qubole.py
        assert came == {0: [0, 1, 2, 3], 1: [0, 1], 2: [0, 1]}
    assert decide(mended) == Nothing()


@pytest.mark.parametrize("release", [QUBOLE, V1, HEAD])
def test_what_is_wrong_besides_is_mended_in_the_same_plan(release: str) -> None:
    """The commit goes last: until then the query does not start at all."""
    recorded = Recorded("m1", release, FOLDERS[release])
    plan, mended = planned(recorded, with_file(recorded.images, "commits/0", ""))
    assert plan.steps[-1].writes[0].key == "commits/0"
    came = delivered(recorded, mended)
    assert isinstance(came, dict) and {0, 1, 2} <= set(came)
    assert decide(mended) == Nothing()


def test_an_older_commit_is_not_read() -> None:
    recorded = Recorded("u1", QUBOLE, FOLDERS[QUBOLE])
    case = recorded.case()
    parsed = Spark().parse(case.images, recorded.stream)
    assert parsed.newest == 1 and 1 not in parsed.committed
    plan, _ = planned(recorded, with_file(recorded.images, "commits/0", ""))
    assert [w.key for s in plan.steps for w in s.writes] == ["commits/0"], "batch 1 runs anyway"


# Each was run on Spark 3.5.9, 4.0.5 and 4.3.0: StreamMetadata.read throws.
@pytest.mark.parametrize(("text", "kept"), [
    ("", False), ("{", False), ("[]", False), ("{}", False), ("null", False), ("7", False),
    ('{"id":7}', False), ('{"id":null}', False), ('{"id":""}', False), ('{"id":"x"}', False),
    (f'{{"id":"{ID}"', True), ("\0\0", False),
])  # fmt: skip
def test_metadata(text: str, kept: bool) -> None:
    """The query's id stays where it can still be read."""
    recorded = Recorded("s2", V1, FOLDERS[V1])
    plan, mended = planned(recorded, with_file(recorded.images, "metadata", text))
    ((write,),) = [step.writes for step in plan.steps]
    assert write.key == "metadata"
    (image,) = [one for one in mended.images if one.key == "metadata"]
    written = json.loads(image.attributes["text"]["S"])
    assert (written["id"] == ID) is kept
    assert decide(mended) == Nothing()
    assert delivered(recorded, mended) == delivered(recorded, recorded.case())


@pytest.mark.parametrize("more", ["", "\n\n", " x"])
def test_metadata_that_spark_reads(more: str) -> None:
    recorded = Recorded("s2", V1, FOLDERS[V1])
    rows = with_file(recorded.images, "metadata", f'{{"id":"{ID}","x":1}}{more}')
    assert decide(recorded.case(rows)) == Nothing()
