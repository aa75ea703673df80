"""The real KCL started on positions from a file: it goes on right after each of them.

`fix --positions` is the command itself. The stream is as young as it says, because the command's
clock is the real one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proof.libraries.go.young import young
from tests.proof.libraries.kcl.laboratory import Laboratory, Start
from tests.proof.libraries.kcl.stream import ServedStream
from tests.proof.libraries.kcl.verdict import differences
from tests.proof.libraries.positions_file import positions_file
from tests.proof.libraries.spark.tool import Tool
from tests.support.case import CASES
from tests.support.case_stream import shard_name

pytestmark = pytest.mark.interop

TOLD = {1: "s1-0", 2: "s2-1", 3: "TRIM_HORIZON"}
"""Of the case a-both: shard 1 goes back, and the children get leases that they do not have."""
COMES = {
    1: ("s1-1", "s1-2", "s1-3", "n1-0", "n1-1"), 2: ("s2-2", "s2-3", "n2-0", "n2-1"),
    3: ("s3-0", "s3-1", "s3-2", "s3-3", "n3-0", "n3-1"),
}  # fmt: skip


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_it_starts_at_the_positions_of_a_file(
    release: str, laboratory: Laboratory, tmp_path: Path
) -> None:
    case = young(CASES / "kcl" / "a-both.toml")
    file = positions_file(tmp_path, case, TOLD)

    def put(address: str, table: str, stream: ServedStream) -> None:
        tool = Tool(tmp_path / "state", {"kinesis": stream.address, "dynamodb": address})
        locator = f"kcl://{table}?initial=LATEST&release={release}"
        accept = ("--accept", "skip=all,reread=all,disorder")
        done = tool.fix(locator, stream.name, "--positions", str(file), *accept)
        assert done.writes, done.errors

    wanted = {shard_name(shard): payloads for shard, payloads in COMES.items()}
    outcome = laboratory.run(
        Start(case, release, "LATEST", case.items(), mend=put, awaits=wanted)
    )
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    assert differences(outcome, wanted, (), dies=False) == []
    laboratory.confirm(outcome)
