"""What the real library makes of a lease whose attribute has a wrong type or value.

``python -m tests.proof.libraries.kcl.attributes RELEASE…`` runs every attribute × value on each
release, in one process a release, and prints the tables of
`tests/unit/consumers/kcl_attribute_types.toml`. The damaged row is that of an open root that was
half read by a worker that was killed, and for `parentShardId` that of a child
whose parent is half read; every other row is whole.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from tests.proof.libraries.kcl.laboratory import AT_ONCE, Laboratory, Start
from tests.proof.libraries.kcl.stream import ServedStream
from tests.proof.libraries.kcl.verdict import Outcome
from tests.support.case import Case, load
from tests.support.case_stream import shard_name

BASE = Path(__file__).parents[3] / "cases/kcl/c.toml"
INITIAL = "TRIM_HORIZON"
ROOT, CHILD = 1, 2

Value = dict[str, Any] | None
"""An attribute's value in DynamoDB JSON; `None`: the attribute is absent."""

ODD: tuple[Value, ...] = (
    None, {"NULL": True}, {"S": ""}, {"S": "7"}, {"S": "abc"}, {"N": "5"}, {"BOOL": True},
    {"L": []}, {"M": {}}, {"B": b"x"}, {"SS": ["x"]},
)
NUMBERS: tuple[Value, ...] = (
    {"N": "-1"}, {"N": "1.5"}, {"N": "2147483648"}, {"N": "9223372036854775807"},
    {"N": "9223372036854775808"},
)
HASHES: tuple[Value, ...] = (
    {"S": "-1"}, {"S": "8.5E37"}, {"S": " 0"}, {"S": "+0"}, {"S": str(2**128)},
)
ATTRIBUTES: dict[str, tuple[Value, ...]] = {
    "leaseCounter": (*ODD, *NUMBERS),
    "ownerSwitchesSinceCheckpoint": (*ODD, *NUMBERS),
    "checkpoint": ODD,
    "checkpointSubSequenceNumber": (*ODD, *NUMBERS),
    "parentShardId": (
        *ODD, {"S": "shardId-000000000000"}, {"S": '["shardId-000000000000"]'},
        {"L": [{"S": "shardId-000000000000"}]},
    ),
    "childShardIds": (*ODD, {"S": "shardId-000000000002"}, {"L": [{"S": "shardId-000000000002"}]}),
    "startingHashKey": (*ODD, *HASHES),
    "endingHashKey": (*ODD, *HASHES),
    "leaseOwner": ODD,
    "checkpointOwner": ODD,
    "pendingCheckpoint": ODD,
    "pendingCheckpointSubSequenceNumber": (*ODD, *NUMBERS),
    "pendingCheckpointState": ODD,
    "throughputKBps": (*ODD, *NUMBERS),
    "entityType": (*ODD, {"S": "LEASE"}, {"S": "STREAM"}, {"S": "LEADER"}),
}
"""pendingCheckpointSubSequenceNumber is tried beside a pendingCheckpoint, the others alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One attribute with one value on one release."""

    release: str
    attribute: str
    value: Value

    @property
    def shard(self) -> int:
        return CHILD if self.attribute == "parentShardId" else ROOT

    def items(self, case: Case) -> list[dict[str, Any]]:
        """The table with the value in it."""
        items = [dict(item) for item in case.items()]
        row = next(i for i in items if i["leaseKey"]["S"] == shard_name(self.shard))
        row["leaseOwner"] = {"S": "killed"}
        row.pop(self.attribute, None)
        if self.value is not None:
            row[self.attribute] = self.value
        if self.attribute == "pendingCheckpointSubSequenceNumber":
            row["pendingCheckpoint"] = row["checkpoint"]
        return items


class Watching(Laboratory):
    """A laboratory that keeps what is in the table when a run is over."""

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[int, list[dict[str, Any]]] = {}
        self.kept: list[Outcome] = []

    def _observe(self, table: str, stream: ServedStream, start: Start) -> Outcome:
        outcome = super()._observe(table, stream, start)
        self.kept.append(outcome)
        self.left[id(outcome)] = self.dynamodb.items_if_any(table)
        return outcome


def trials(releases: list[str]) -> Iterator[Trial]:
    """All of them, by release."""
    for release in releases:
        for attribute, values in ATTRIBUTES.items():
            for value in values:
                yield Trial(release, attribute, value)


def spelled(value: Value) -> str:
    """The value as its line in the table."""
    if value is None:
        return "absent"
    ((kind, body),) = value.items()
    return f"{kind} {body.decode() if isinstance(body, bytes) else json.dumps(body)}"


def said(trial: Trial, case: Case, laboratory: Watching) -> str:
    """What came of it, in a word, and how it differs from the run of the whole table."""
    start = Start(case, trial.release, INITIAL, trial.items(case))
    try:
        outcome = laboratory.run(start)
    except ClientError:
        return "cannot be stored"
    if outcome.died:
        return "dies"
    if outcome.robbed or not outcome.settled:
        return "disturbed"
    expected = next(e for e in case.expects).delivers
    own = shard_name(trial.shard)
    wrong = {s for s, wanted in expected.items() if outcome.of(s) != tuple(wanted)}
    others = sorted(int(s[-12:]) for s in wrong - {own})
    beside = f", others {others} differ" if others else ""
    if own not in wrong:
        shards = [shard for shard, _ in outcome.delivered]
        last = len(shards) - 1 - shards[::-1].index(shard_name(0))
        early = trial.shard == CHILD and own in shards[:last]
        return ("read without it" if early else "read") + beside
    row, before = (
        next(i for i in items if i["leaseKey"]["S"] == own)
        for items in (laboratory.left[id(outcome)], start.items)
    )
    if outcome.of(own):
        return f"read {list(outcome.of(own))}{beside}"
    taken = _counter(row) != _counter(before)
    return ("stuck" if taken else "left out") + beside


def _counter(item: dict[str, Any]) -> Decimal | None:
    """DynamoDB writes a number out, 1E+38 as its 39 digits."""
    value = item.get("leaseCounter", {})
    return Decimal(value["N"]) if "N" in value else None


def main(releases: list[str]) -> None:
    """Run and print; a line at once for each that is done, on standard error."""
    case, laboratory = load(BASE), Watching()
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            every = list(trials(releases))

            def one(trial: Trial) -> str:
                word = said(trial, case, laboratory)
                line = f"{trial.release} {trial.attribute} {spelled(trial.value)}: {word}"
                print(line, file=sys.stderr, flush=True)
                return word

            words = dict(zip(every, pool.map(one, every), strict=True)) if every else {}
    finally:
        laboratory.close()
    for attribute, values in ATTRIBUTES.items():
        print(f"\n[{attribute}]")
        for value in values:
            by = {r: words[t] for t in words for r in [t.release]
                  if (t.attribute, t.value) == (attribute, value)}
            pairs = ", ".join(f'"{r}" = "{word}"' for r, word in by.items())
            print(f"{json.dumps(spelled(value))} = {{ {pairs} }}")


if __name__ == "__main__":
    main(sys.argv[1:])
