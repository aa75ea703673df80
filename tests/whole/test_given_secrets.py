"""Passwords and tokens that were given are masked, however their locators and URLs are spelled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reshardctl import given_secrets
from reshardctl.given_secrets import masked
from reshardctl.render.escape import escape

SECRET = "S3cr3tPw"
SPELLED = (
    "kinesis-consumer+postgres://u:S3cr3tPw@127.0.0.1:1/app?app=a&release=0.5",
    "kinesis-consumer+postgres://u:x@S3cr3tPw@127.0.0.1:1/app?app=a",
    "kinesis-consumer+postgres://u:a/S3cr3tPw@127.0.0.1:1/app?app=a",
    "kinesis-consumer+postgres://u:a?S3cr3tPw@127.0.0.1:1/app?app=a",
    "kinesis-consumer+postgres://u:a#S3cr3tPw@127.0.0.1:1/app",
    "postgres://u:S3cr3tPw@h/app", "kinesis-consumer+postgres:/u:S3cr3tPw@h/app",
    "kinesis-consumer+postgres:u:S3cr3tPw@h/app", "Kinesis-Consumer+postgres://u:S3cr3tPw@h/app",
    "kinesis-consumer+Postgres://u:S3cr3tPw@h/app", "KINESIS-CONSUMER+MYSQL:u:S3cr3tPw@h",
    "kinesis-consumer+redis://:S3cr3tPw@127.0.0.1:1/x?app=a", "redis:/:S3cr3tPw@127.0.0.1",
    "quickwit+http://u:S3cr3tPw@127.0.0.1:1?index=a",
    "kinesis-consumer+postgres://u:S3cr3tPw%ZZ@127.0.0.1:1/app?app=a&release=nonsense",
    "kinesis-consumer+postgres://127.0.0.1:1/app?app=a&password=S3cr3tPw",
    "kinesis-consumer+postgres://u:S3cr3tPw@[::1]:1/app?app=a",
    " kinesis-consumer+postgres://u:S3cr3tPw@h/app", "\tpostgres://u:S3cr3tPw@h/app",
    "'kinesis-consumer+postgres://u:S3cr3tPw@h/app'", '"postgres://u:S3cr3tPw@h/app"',
    "kinesis-consumer+postgres://u:S3cr3tPw @h/app", "u:S3cr3tPw@h/app",
    "kinesis-consumer+postgres://u:S3cr3tPw@h/app\n?x", "postgres:///u:S3cr3tPw@h/app",
    "kinesis-consumer+postgres://u:S3cr3tPw'\"\\@h/app", "postgres://u:S3cr3tPw%40x@h/app",
    "http://u:S3cr3tPw@127.0.0.1:1", "kinesis=http://u:S3cr3tPw@127.0.0.1:1",
    "http://127.0.0.1:1/?tok=S3cr3tPw", "dynamodb=https://h/?S3cr3tPw", "https://S3cr3tPw@h/",
    "--endpoint-url=kinesis=https://h/p?x=1&y=S3cr3tPw#z", "HTTPS://u:S3cr3tPw@h",
)
PLAIN = (
    "kcl://orders-app?initial=AT_TIMESTAMP:2026-11-27T00:00:00Z&release=3.5.1",
    "spark:/data/of:team@example/checkpoint?release=awslabs-1.4", "spark:user@REALM/checkpoint",
    "spark:hdfs://nn:8020/user@REALM/ckpt", "spark:s3a://bucket/a:b@c", "s3://bucket/a@b",
    "snapshot:orders@noon.snapshot", "arn:aws:kinesis:us-east-1:123456789012:stream/orders",
    "--since=@reshard", "@reshard", "http://127.0.0.1:4566", "kinesis=http://[::1]:4566",
    "kinesis-consumer+postgres://my-user@my-host/app?app=a", "quickwit+http://node:7280?index=a@b",
    "3=AT_TIMESTAMP:2026-09-22T09:14:00Z", "orders", "-1h",
)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    given_secrets.begin(())


@pytest.mark.parametrize("text", SPELLED)
def test_a_secret_is_masked_however_it_is_quoted(text: str) -> None:
    given_secrets.begin([text])
    for shown in (
        f"error: {text}: no locator", f"{text!r} is none", str(Path(text)),
        json.dumps({"what": f"{text} is none"}), f"write it as {text.replace(':', '://', 1)}",
        text.strip(), text[: text.rfind("@") + 1] or text,
    ):
        assert SECRET in shown
        assert SECRET not in masked(shown), shown
        assert SECRET not in escape(shown), shown


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_is_shown(text: str) -> None:
    given_secrets.begin([text])
    assert masked(f"error: {text!r}: {text}") == f"error: {text!r}: {text}"


def test_a_secret_that_is_a_word_of_ours_spoils_no_document() -> None:
    given_secrets.begin(["postgres://stream:shards@orders/stream"])
    document = json.dumps({"stream": "orders", "shards": 7})
    assert masked(document) == document
    assert masked("postgres://stream:shards@orders") == "postgres://stream:***@orders"


def test_each_command_has_secrets_of_its_own() -> None:
    given_secrets.begin(["postgres://u:S3cr3tPw@h"])
    given_secrets.begin(["postgres://u:an0ther@h"])
    assert masked("u:S3cr3tPw@h u:an0ther@h") == "u:S3cr3tPw@h u:***@h"
