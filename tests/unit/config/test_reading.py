"""Every wrong line of a configuration, and what is said of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reshardctl.commands.target import repair_options_of
from reshardctl.config.reading import load
from reshardctl.errors import UsageError
from reshardctl.exit import Exit

GOOD = """\
[defaults]
region = "eu-west-1"

[streams.orders]
created = 2026-09-22T09:14:00Z
role_arn = "arn:aws:iam::123456789012:role/streams"

[consumers.fraud]
stream = "orders"
locator = "kcl://fraud?initial=LATEST"
role_arn = ""

[consumers.etl]
stream = "orders"
locator = "kcl://etl"
accept = "reread=3h"
region = "us-east-1"

[[suppress]]
consumer = "etl"
rule = "RSH205"
shards = [2, "shardId-000000000003"]
until = 2026-12-31
why = "expire on their own, ticket 4711"
"""


def config(tmp_path, text=GOOD):
    path = tmp_path / "reshardctl.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, repair_options_of)


def test_what_is_not_said_is_as_outside(tmp_path):
    """defaults → stream → consumer; "" is for the environment's own."""
    found = config(tmp_path)
    stream = found.streams["orders"]
    fraud, etl = found.consumers.values()
    assert (stream.reach.region, stream.reach.role[-7:]) == ("eu-west-1", "streams")
    assert (fraud.reach.region, fraud.reach.role) == ("eu-west-1", "")
    assert (etl.reach.region, etl.reach.role[-7:]) == ("us-east-1", "streams")
    lines = {name: source.rpartition(":")[2] for name, source in etl.reach.sources.items()}
    assert lines == {"region": "17", "role_arn": "6"}
    assert (etl.accept, etl.where[1], stream.stream) == ("reread=3h", 13, "orders")
    assert stream.created == datetime(2026, 9, 22, 9, 14, tzinfo=UTC).timestamp()


def test_each_service_may_have_an_endpoint_of_its_own(tmp_path):
    """As `--endpoint-url` has it; S3 holds journals and metastores."""
    urls = {name: f"http://127.0.0.1:1/{name}" for name in ("kinesis", "dynamodb", "sts", "s3")}
    table = ", ".join(f'{name} = "{url}"' for name, url in urls.items())
    path = tmp_path / "reshardctl.toml"
    path.write_text(f"[streams.orders]\nendpoint_url = {{ {table} }}\n", encoding="utf-8")
    assert load(path, repair_options_of).streams["orders"].reach.endpoints == urls
    path.write_text('[streams.orders]\nendpoint_url = "http://x"\n', encoding="utf-8")
    found = load(path, repair_options_of).streams["orders"].reach.endpoints
    assert found == dict.fromkeys(urls, "http://x")


def test_a_suppression_holds_to_the_end_of_its_day(tmp_path):
    (one,) = config(tmp_path).suppressions
    assert one.until == datetime(2027, 1, 1, tzinfo=UTC).timestamp()
    assert one.day == "2026-12-31"
    assert one.shards == {"shardId-000000000002", "shardId-000000000003"}


def test_a_suppression_until_a_time_has_no_day(tmp_path):
    text = GOOD.replace("until = 2026-12-31", "until = 2026-12-31T00:00:00Z")
    (one,) = config(tmp_path, text).suppressions
    assert (one.until, one.day) == (datetime(2026, 12, 31, tzinfo=UTC).timestamp(), "")


WRONG = [
    ('accept = "reread=3h"', 'acept = "reread=3h"', "16: consumers.etl.acept", "unknown key"),
    ('[consumers.etl]', '[consumer.etl]', "13: consumer", "unknown key"),
    ('region = "us-east-1"', "region = 7", "17: consumers.etl.region", "not a string but a number"),
    ('region = "us-east-1"', 'region = "useast"', "17: consumers.etl.region", "'useast'"),
    ('stream = "orders"\nlocator = "kcl://etl"', 'stream = "order"\nlocator = "kcl://etl"',
     "14: consumers.etl.stream", "[streams.order]"),
    ('locator = "kcl://etl"', 'locator = "kcl://e"', "15: consumers.etl.locator", "'e'"),
    ('locator = "kcl://etl"', 'locator = "kcl://etl?release=9"', "15: consumers.etl.locator", "9"),
    ('locator = "kcl://etl"\n', "", "13: consumers.etl", "locator is missing"),
    ('stream = "orders"\nlocator = "kcl://etl"', 'locator = "kcl://etl"', "13: consumers.etl",
     "stream is missing"),
    ('created = 2026-09-22T09:14:00Z', "stream = ''", "5: streams.orders.stream", "is empty"),
    ('locator = "kcl://etl"\naccept = "reread=3h"\nregion = "us-east-1"',
     'locator = "kcl://fraud?release=3.5"\nrole_arn = ""', "15: consumers.etl.locator",
     "table fraud is that of fraud ("),
    ('accept = "reread=3h"', 'accept = "skip"', "16: consumers.etl.accept", "'skip' is not known"),
    ('accept = "reread=3h"', 'policy = "newest"', "16: consumers.etl.policy", "newest"),
    ('created = 2026-09-22T09:14:00Z', 'created = 2026-09-22T09:14:00', "5: streams.orders.created",
     "has no zone"),
    ('created = 2026-09-22T09:14:00Z', 'created = "2026-09-22T09:14:00"',
     "5: streams.orders.created", "has no zone"),
    ('created = 2026-09-22T09:14:00Z', 'created = 2026-09-22', "5: streams.orders.created",
     "not a time but a date"),
    ('created = 2026-09-22T09:14:00Z', 'created = 1790068440', "5: streams.orders.created",
     "not a time but a number"),
    ('role/streams"', 'user/streams"', "6: streams.orders.role_arn", "is none"),
    ('why = "expire on their own, ticket 4711"\n', "", "19: suppress[1]", "without why"),
    ('why = "expire on their own, ticket 4711"', 'why = " "', "24: suppress[1].why", "is empty"),
    ("until = 2026-12-31\n", "", "19: suppress[1]", "without until"),
    ("until = 2026-12-31", "until = 2026-12-31T00:00:00", "23: suppress[1].until", "has no zone"),
    ('rule = "RSH205"', 'rule = "RSH299"', "21: suppress[1].rule", "'RSH299' is no rule"),
    ('consumer = "etl"', 'consumer = "elt"', "20: suppress[1].consumer", "[consumers.elt]"),
    ('shards = [2, "shardId-000000000003"]', "shards = [2, true]", "22: suppress[1].shards[2]",
     "not a shard"),
    ('shards = [2, "shardId-000000000003"]', "shards = 2", "22: suppress[1].shards",
     "not a list"),
    ('shards = [2, "shardId-000000000003"]', "shards = []", "22: suppress[1].shards", "is empty"),
    ("[[suppress]]", "[suppress]", "19: suppress", "not a list but a table"),
    ("[consumers.etl]", "[consumers.orders]", "13: consumers.orders", "a stream has this name"),
    ("[consumers.etl]", '[consumers."a b"]', "13: consumers.a b", "not a name"),
    ('region = "eu-west-1"', 'endpoint_url = "ftp://x"', "2: defaults.endpoint_url", "http"),
    ('region = "eu-west-1"', 'endpoint_url = { s4 = "http://x" }', "2: defaults.endpoint_url.s4",
     "unknown key"),
    ('region = "eu-west-1"', 'endpoint_url = "http://u:p@x"', "2: defaults.endpoint_url",
     "no user or password"),
    ('region = "eu-west-1"', 'region = "eu-west-1', "2:20", "not TOML"),
    ('[consumers.etl]', "[consumers.fraud]", "13:17", "not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "where", "why"), WRONG)
def test_a_wrong_line_is_named(tmp_path, old, new, where, why):
    assert GOOD.count(old) == 1
    with pytest.raises(UsageError) as caught:
        config(tmp_path, GOOD.replace(old, new))
    said = f"{caught.value.what}\n{caught.value.next}"
    assert caught.value.exit is Exit.USAGE
    assert f"reshardctl.toml:{where}" in said and why in said, said
    assert caught.value.next


def test_a_multi_stream_table_serves_different_streams(tmp_path):
    """KCL 2.3+ keeps the leases of several streams in one table (MultiStreamTracker)."""
    text = GOOD.replace("[consumers.fraud]", "[streams.clicks]\n[consumers.fraud]").replace(
        'stream = "orders"\nlocator = "kcl://etl"', 'stream = "clicks"\nlocator = "kcl://fraud"'
    ).replace('region = "us-east-1"', 'role_arn = ""')
    assert [one.locator.target for one in config(tmp_path, text).consumers.values()] == [
        "fraud", "fraud",
    ]


def test_tables_of_other_regions_are_others(tmp_path):
    found = config(tmp_path, GOOD.replace('"kcl://etl"', '"kcl://fraud"'))
    assert len(found.consumers) == 2


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a = " + b"[" * 3000, b"x" * 4_000_001, b"streams = 1"]
)
def test_no_text_at_all(tmp_path, content):
    path = tmp_path / "reshardctl.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"reshardctl\.toml") as caught:
        load(path, repair_options_of)
    assert caught.value.next


def test_windows_line_ends(tmp_path):
    path = tmp_path / "reshardctl.toml"
    path.write_bytes(GOOD.replace('region = "us-east-1"', "region = 7").encode().replace(
        b"\n", b"\r\n"))
    with pytest.raises(UsageError, match=":17: consumers"):
        load(path, repair_options_of)


@pytest.mark.parametrize("digits", [4301, 100_000])
def test_a_number_of_more_digits_than_python_reads(tmp_path, digits):
    """tomllib lets Python's ValueError through, which is no TOMLDecodeError."""
    with pytest.raises(UsageError, match=r"reshardctl\.toml: not TOML: a number"):
        config(tmp_path, GOOD.replace("shards = [2,", f"shards = [{'9' * digits},"))
