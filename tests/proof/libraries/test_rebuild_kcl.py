"""A lease table that was deleted, made again from what the application had stored, on real KCL.

The library reads a stream for a while; every record that it delivered goes to a sink. Its table
is deleted, the stream is resharded, rows of the sink are lost. The table is rebuilt, the library
is started again: what the sink lacks comes, and nothing again but what the plan says.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.proof.libraries.kcl.laboratory import Laboratory, Start
from tests.proof.libraries.kcl.stream import ServedStream
from tests.proof.libraries.rebuilding import Operator, Said, as_json
from tests.support.case import Case, from_table
from tests.support.case_stream import shard_name

pytestmark = pytest.mark.interop

CREATED = 1_795_219_200
CENTURY = 876_000
"""Hours. The command's clock is the real one, and nothing of these streams may have expired by it;
a start that is to be on record has the same stream every day."""
RELEASES = {"1.15.3": "TRIM_HORIZON", "2.7.2": "LATEST", "3.5.1": "LATEST"}
"""And how each begins at every turn; the other way takes as long and is run by name."""
FIRST: dict[str, Any] = {
    "created": CREATED, "now": 600, "retention_hours": CENTURY,
    "shards": [
        {"id": 0, "range": ["0", "1/2"], "records": {"n": 6, "from": 60, "to": 540}},
        {"id": 1, "range": ["1/2", "1"], "records": {"n": 6, "from": 60, "to": 540}},
    ],
}  # fmt: skip
"""What the library reads before its table is lost."""
MORE = [{"t": 660 + 60 * i, "data": f"s0-{6 + i}"} for i in range(3)]


def second() -> dict[str, Any]:
    """Three records more, then shard 0 is split, and one of its children again."""
    parent, other = (dict(shard) for shard in FIRST["shards"])
    early = [{"t": 60 + 96 * i, "data": f"s0-{i}"} for i in range(6)]
    parent |= {"close": 900, "records": [*early, *MORE]}
    return {**FIRST, "now": 2400, "shards": [
        parent, other,
        {"id": 2, "range": ["0", "1/4"], "parents": [0], "close": 1500, "open": 901,
         "records": {"n": 3, "from": 960, "to": 1440}},
        {"id": 3, "range": ["1/4", "1/2"], "parents": [0], "open": 901,
         "records": {"n": 3, "from": 960, "to": 2000}},
        {"id": 4, "range": ["0", "1/8"], "parents": [2], "open": 1501,
         "records": {"n": 2, "from": 1600, "to": 2000}},
        {"id": 5, "range": ["1/8", "1/4"], "parents": [2], "open": 1501},
    ]}  # fmt: skip


def case_of(name: str, stream: dict[str, Any]) -> Case:
    return from_table(Path(f"{name}.toml"), {
        "title": name, "source": "this test", "consumer": "kcl", "stream": stream, "rows": [],
        "live": {"shards": [s["id"] for s in stream["shards"] if "close" not in s], "n": 2},
        "expect": [{"initial": ["LATEST"], "releases": ["3.5.1"], "delivers": {}, "findings": []}],
    })  # fmt: skip


@dataclass
class Rebuild:
    """Rebuilds the table of a start; what was said stays here."""

    release: str
    sink: Path
    state: Path
    words: tuple[str, ...] = ()
    exists: bool = False
    said: list[Said] = field(default_factory=list)

    def __call__(self, address: str, table: str, stream: ServedStream) -> None:
        operator = Operator(self.state, {"kinesis": stream.address, "dynamodb": address})
        place = f"kcl://{table}?release={self.release}"

        def again() -> Said:
            said = operator.rebuild(
                place, stream.name, self.sink, "--form", "json", "--accept", "reread=all",
                *self.words,
            )
            self.said.append(said)
            return said

        refused = again()
        assert refused.code == 4, refused.err
        made(refused.err, address)
        done = again()
        assert done.code == 0, done.err


def made(text: str, address: str) -> None:
    """Does what the refusal says: the command, word by word, to this DynamoDB."""
    (line,) = [one for one in text.splitlines() if "aws dynamodb create-table" in one]
    words = shlex.split(line[line.index("aws dynamodb") :])
    found: dict[str, list[str]] = {}
    name = ""
    for word in words[3:]:
        if word.startswith("--"):
            found[word] = []
            name = word
        else:
            found[name].append(word)
    indexes = "".join(found.get("--global-secondary-indexes", ()))
    client = boto3.client("dynamodb", endpoint_url=address, region_name="us-east-1",
                          aws_access_key_id="testing", aws_secret_access_key="testing")  # fmt: skip
    client.create_table(
        TableName=found["--table-name"][0], BillingMode=found["--billing-mode"][0],
        AttributeDefinitions=[_pairs(one) for one in found["--attribute-definitions"]],
        KeySchema=[_pairs(one) for one in found["--key-schema"]],
        **({"GlobalSecondaryIndexes": json.loads(indexes)} if indexes else {}),
    )


def _pairs(word: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in word.split(","))


def stored(case: Case, delivered: Any, lost: Callable[[str], bool]) -> list[tuple[str, str, str]]:
    """What of the delivered records the sink has."""
    return [
        (shard, case.number_of(payload), payload)
        for shard, payload in dict.fromkeys(delivered)
        if not lost(payload) and not payload.startswith("n")
    ]


def unread_of(case: Case, held: set[str]) -> dict[str, tuple[str, ...]]:
    """The records that the sink lacks, by shard id: those of the stream and the live ones."""
    stored = {shard: [p for _, p, _ in of] for shard, of in case.records.items()}
    for shard in case.live.shards:
        live = [f"n{shard}-{i}" for i in range(case.live.n)]
        stored.setdefault(shard_name(shard), []).extend(live)
    return {
        shard: tuple(payload for payload in payloads if payload not in held)
        for shard, payloads in stored.items()
    }


@pytest.mark.parametrize(
    ("release", "initial"),
    [
        pytest.param(release, initial, marks=() if initial == usual else pytest.mark.long)
        for release, usual in RELEASES.items()
        for initial in ("LATEST", "TRIM_HORIZON")
    ],
)
def test_a_deleted_table_is_rebuilt(
    release: str, initial: str, laboratory: Laboratory, tmp_path: Path
) -> None:
    first = case_of("rebuild-first", FIRST)
    awaited = unread_of(first, set())
    ran = laboratory.run(Start(first, release, "TRIM_HORIZON", [], awaits=awaited))
    assert ran.settled and not ran.died, ran.tail()
    laboratory.confirm(ran)
    then = case_of("rebuild-then", second())
    rows = stored(then, ran.delivered, lambda payload: payload in ("s1-3", "s1-4"))
    assert len(rows) == 10
    mend = Rebuild(release, as_json(rows, tmp_path / "sink"), tmp_path / "state")
    held = {payload for _, _, payload in rows}
    lacking = unread_of(then, held)
    outcome = laboratory.run(Start(then, release, initial, [], mend=mend, awaits=lacking))
    print(mend.said[-1].out, outcome.tail())
    assert outcome.settled and not outcome.died
    unread = {payload for payloads in lacking.values() for payload in payloads}
    came = [payload for _, payload in outcome.delivered]
    assert unread <= set(came), f"lost: {sorted(unread - set(came))}"
    assert {p for p in came if p in held} == {"s1-5"}, "behind the gap, as the plan says"
    bounds = mend.said[-1].rereads()
    assert set(bounds) == {"shardId-000000000001"}
    low, high = bounds["shardId-000000000001"]
    assert low < int(then.number_of("s1-5")) <= high
    assert len(came) == len(set(came)), "each once"
    for parent, child in (("s0-", "s2-"), ("s0-", "s3-"), ("s2-", "s4-")):
        last = max(i for i, payload in enumerate(came) if payload.startswith(parent))
        assert last < min(i for i, payload in enumerate(came) if payload.startswith(child))
    laboratory.confirm(outcome)
