"""A second application of the real KCL beside one that runs: it replays from a time on.

Its first positions are those of `fix --bootstrap --policy at-timestamp`. The stream is as young as
it says, because the command's clock is the real one.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from reshardctl.model.times import instant
from tests.proof.libraries.go.young import young
from tests.proof.libraries.kcl.laboratory import AWAITED_SECONDS, Laboratory, Start
from tests.proof.libraries.kcl.running import Running
from tests.proof.libraries.kcl.verdict import came, differences
from tests.proof.libraries.spark.tool import Tool
from tests.support.case import CASES
from tests.support.case_stream import shard_name

pytestmark = pytest.mark.interop

SINCE = 300
"""Seconds after the stream's creation, and before the split of shard 0 at 600."""


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_it_delivers_what_arrived_since_and_the_first_one_does_not_notice(
    release: str, laboratory: Laboratory, tmp_path: Path
) -> None:
    case = young(CASES / "kcl" / "healthy-split-cleaned.toml")
    rows: list[dict[str, object]] = []

    def positions(running: Running) -> dict[str, object]:
        return {key: row["checkpoint"] for key, row in running.leases().items()}

    def beside(running: Running) -> None:
        running.wait_owned()
        held = running.stream.fake.stream(running.stream.name)
        read = {
            shard_name(number): {"S": str(held.shards[number].records[-1].number)}
            for number in (1, 2, 3)
        }
        running.wait(lambda _: positions(running) == read, f"every record is read: {read}")
        before = positions(running)
        since = held.created + SINCE
        wanted = {
            shard_name(number): tuple(
                r.payload.decode() for r in shard.records if r.arrival >= since
            )
            for number, shard in held.shards.items()
        }
        assert wanted[shard_name(0)] and wanted[shard_name(3)], "on both sides of the split"
        table = f"{running.table}-beside"
        running.dynamodb.seed(table, [], indexed=release.startswith("3."))
        tool = Tool(
            tmp_path / "state",
            {"kinesis": running.stream.address, "dynamodb": running.dynamodb.address},
        )
        policy = ("--bootstrap", "--policy", f"at-timestamp={instant(since)}")
        done = tool.fix(f"kcl://{table}", running.stream.name, *policy)
        assert done.writes, done.errors
        with laboratory.second(running, Start(case, release, "LATEST", []), table) as log:
            assert log.wait(lambda log: came(log, wanted), AWAITED_SECONDS * 2), str(log.events())
            log.wait(lambda log: log.still(1, 2.0), AWAITED_SECONDS)
            got = Counter(
                (e.members["shard"], e.members["payload"]) for e in log.of("RECORD")
            )
        assert got == Counter((shard, p) for shard, payloads in wanted.items() for p in payloads)
        assert positions(running) == before
        rows.append(before)

    expected = case.expects[0].delivers
    outcome = laboratory.run(
        Start(case, release, "LATEST", case.items(), meanwhile=beside, awaits=expected)
    )
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    assert rows and differences(outcome, expected, (), dies=False) == []
