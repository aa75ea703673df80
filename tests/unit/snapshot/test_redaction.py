"""Redaction of rows and locators: no name is left, the library's own words are.

tests/cli/test_redacted_stores.py has the stores of each library, judged alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.model import Image, canonical
from reshardctl.model.images import NO_UNIQUE_KEY, SAME_KEY, UNGUARDED
from reshardctl.snapshot.redaction import Redaction
from tests.support import lineages
from tests.support.case import CASES

TYPES = {"S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"}
SCHEMES_TO_SPECS = {
    scheme: parse(f"{scheme}://app").spec for scheme in ("kcl", "kinsumer", "kinesis-consumer+ddb")
}

OWN = {
    "kcl": {"leaseKey": {"S": "shardId-000000000001"}, "checkpoint": {"S": "TRIM_HORIZON"}},
    "kinsumer": {"Shard": {"S": "shardId-000000000001"}, "OwnerID": {"S": "secret"}},
    "kinesis-consumer+ddb": {"namespace": {"S": "app-orders"}, "sequence_number": {"S": "5"}},
    "quickwit+file": {"position": {"S": "5"}},
}
MORE: dict[str, Any] = {
    "secret_attr": {"S": "secret-value"}, "secret": {"M": {"secret": {"L": [{"S": "secret"}]}}},
    "secrets": {"SS": ["secret-b", "secret-a"]},
}


def redacted(locator: str, image: Image) -> Image:
    """A row of a snapshot of one consumer, as it is told without names."""
    own = lineages.split_in_turn(2, ())
    snapshot = Snapshot(parse(locator), own, (image,), {}, 0.0)
    (then,) = Redaction("orders").snapshot(snapshot, own).images
    return then


@pytest.mark.parametrize("scheme", OWN)
def test_attributes_that_no_library_writes_lose_their_names(scheme):
    target = "/secret" if scheme == "quickwit+file" else "secret"
    image = Image("shardId-000000000001", canonical({**OWN[scheme], **MORE}))
    then = redacted(f"{scheme}://{target}", image)
    assert "secret" not in str(then)
    assert then.attributes.keys() > OWN[scheme].keys()


def test_what_the_store_tells_of_a_table_stays():
    """RSH301 rests on it; other applications' columns beside it lose their names and values."""
    told: dict[str, Any] = {
        SAME_KEY: {"M": {"count": {"N": "1"}, "next": {"L": [{"S": "49"}]}}},
        UNGUARDED: {"S": NO_UNIQUE_KEY},
    }
    row = {"namespace": {"S": "secret-orders"}, "shard_id": {"S": "shardId-000000000001"}}
    image = Image("secret-orders/shardId-000000000001", canonical({**row, **told, **MORE}))
    then = redacted("kinesis-consumer+mysql://secret/secret?app=secret", image)
    assert "secret" not in str(then)
    assert {name: then.attributes.get(name) for name in told} == told


def test_every_attribute_in_a_recorded_row_is_known():
    """What the real libraries wrote (tests/golden) keeps its name."""
    for folder, scheme in (("kcl", "kcl"), ("kinsumer-twitchscience", "kinsumer"),
                           ("kinsumer-snowplow", "kinsumer"),
                           ("kinesis-consumer", "kinesis-consumer+ddb")):
        spec = SCHEMES_TO_SPECS[scheme]
        for path in sorted((CASES.parent / "golden" / folder).rglob("*.json")):
            found = set(attribute_names(json.loads(path.read_text())))
            assert found <= spec.attributes, f"{path}: {found - spec.attributes}"


def attribute_names(body: object) -> Iterator[str]:
    """Names of attributes of DynamoDB, wherever there are rows in a recorded file."""
    if isinstance(body, dict):
        for name, value in body.items():
            if isinstance(value, dict) and len(value) == 1 and value.keys() <= TYPES:
                yield name
            yield from attribute_names(value)
    elif isinstance(body, list):
        for value in body:
            yield from attribute_names(value)


@pytest.mark.parametrize("text", [
    "kcl://secret-table", "kinsumer://secret-app", "spark:/mnt/secret/job",
    "spark+s3://secret-bucket/jobs/secret", "quickwit+file:///var/secret",
    "quickwit+postgres://secret@secret-host/secret", "quickwit+s3://secret-bucket",
    "kinesis-consumer+ddb://secret-table", "kinesis-consumer+redis://secret-host:6379/0",
    "kinesis-consumer+rediss://secret-host/1", "kinesis-consumer+mysql://secret@host/secret",
    "kinesis-consumer+postgres://secret@[::1]:5432/secret",
])  # fmt: skip
def test_a_locator_without_names_is_one(text):
    locator = parse(text)
    target = Redaction("orders")._target(locator)
    again = parse(locator.elsewhere(target, {}).text)
    wanted = (locator.consumer, locator.medium, target)
    assert (again.consumer, again.medium, again.target) == wanted
    assert "secret" not in again.text


@pytest.mark.parametrize(("text", "row", "wanted"), [
    ("kcl://secret-table",
     Image("secret-table-CoordinatorState/Migration3.0", {"key": {"S": "Migration3.0"}}),
     Image("name-1-CoordinatorState/Migration3.0", {"key": {"S": "Migration3.0"}})),
    ("kcl://secret-table",
     Image("shardId-000000000001", {"leaseKey": {"S": "shardId-000000000001"},
                                    "checkpoint": {"BS": ["c2VjcmV0", "c2VjcmU="]}}),
     Image("shardId-000000000001", {"leaseKey": {"S": "shardId-000000000001"},
                                    "checkpoint": {"BS": [""]}})),
    ("kinsumer://secret", Image("clients/secret-1", {"ID": {"S": "secret-1"}}),
     Image("clients/name-2", {"ID": {"S": "name-2"}})),
    ("quickwit+file:///secret?index=i", Image("secret/secret", {"region": {"S": "eu-west-1"}}),
     Image("name-3/name-3", {"region": {"S": "eu-west-1"}})),
])  # fmt: skip
def test_a_row_keeps_its_table_and_the_words_of_the_library(text, row, wanted):
    """A region is no secret; what is binary may be one."""
    assert redacted(text, row) == wanted
