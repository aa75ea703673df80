"""Locators as DESIGN draws them: what is taken, what is refused, and where a password goes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reshardctl.cli.help import LOCATORS
from reshardctl.consumers.locator import SCHEMES, looks_like_one, parse
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.spec import Scheme
from reshardctl.errors import UsageError

SERVER = re.compile(r"(?:[^/@:]+@)?[a-z0-9.-]+(?::[0-9]+)?/[a-z0-9_]+\Z")


@pytest.fixture(autouse=True)
def _schemes(monkeypatch):
    monkeypatch.setitem(SCHEMES, "tree", Scheme(
        "x", "files", re.compile(r"[^\0]+\Z"), "folder", "tree:/a/folder", bare=True))
    monkeypatch.setitem(SCHEMES, "base+sql", Scheme(
        "x", "sql", SERVER, "database", "base+sql://HOST/DB", server=True))


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_library_whose_positions_are_in_a_tree_of_files_says_which_are_read(consumer):
    media = {scheme.medium for scheme in SCHEMES.values() if scheme.consumer == consumer}
    in_files = bool(media & {"files", "s3files"})
    assert (CONSUMERS[consumer].for_options({}).files() is not None) is in_files


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "S3A"])
@pytest.mark.parametrize("consumer", ["spark", "quickwit"])
def test_a_path_on_s3_as_its_application_spells_it(consumer, scheme):
    """docs/spark.md: boto3 reads and writes it, whichever of these Spark says."""
    assert parse(f"{consumer}:{scheme}://lake/jobs?release=x") == parse(
        f"{consumer}+s3://lake/jobs?release=x"
    )


@pytest.mark.parametrize(("text", "target", "options"), [
    ("kcl://app", "app", {}),
    ("kcl://app?initial=AT_TIMESTAMP:2026-01-01T00:00:00+01:00&release=3.5", "app",
     {"initial": "AT_TIMESTAMP:2026-01-01T00:00:00+01:00", "release": "3.5"}),
    ("tree:/a/folder", "/a/folder", {}),
    ("tree:a/folder?source=0", "a/folder", {"source": "0"}),
    ("tree://a", "//a", {}),
    ("tree:hdfs://node:8020/a", "hdfs://node:8020/a", {}),
    ("base+sql://host:5432/db?app=a@b", "host:5432/db", {"app": "a@b"}),
])
def test_taken(text, target, options):
    locator = parse(text)
    assert (locator.text, locator.target, locator.options) == (text, target, options)
    assert locator.password == "" and looks_like_one(text)


@pytest.mark.parametrize(("text", "password", "masked"), [
    ("base+sql://me:s3cr3t@host/db", "s3cr3t", "base+sql://me:***@host/db"),
    ("base+sql://me:a%2Fb%40@host/db?app=x", "a/b@", "base+sql://me:***@host/db?app=x"),
    ("base+sql://me:***@host/db", "", "base+sql://me:***@host/db"),
])
def test_a_password_works_and_is_not_shown(text, password, masked):
    locator = parse(text)
    assert (locator.password, locator.text) == (password, masked)
    assert "s3cr3t" not in repr(locator) and "a/b@" not in repr(locator)
    assert locator.target == "me@host/db"
    assert parse(locator.text).password == ""


@pytest.mark.parametrize("text", [
    "base+sql://me:s3cr3t@ho st/db", "other://me:s3cr3t@host/db", "base+sql://me:s3c/r3t@host/db?",
    "base+sql:me:s3cr3t@host/db", "base+sql://me:s3?cr3t@host/db", "base+sql://:s3cr3t@host/db",
])
def test_no_message_holds_a_password(text):
    with pytest.raises(UsageError) as refused:
        parse(text)
    said = refused.value.what + (refused.value.next or "")
    assert "r3t" not in said


@pytest.mark.parametrize(("text", "says"), [
    ("app", "is no locator"), ("dynamo://app", "dynamo:// is not known"),
    ("kcl://x", "'x' is no name of a DynamoDB table: 3 to 255 characters"),
    ("kcl:app", "// is missing"), ("kcl://a b", "'a b' is no name of a DynamoDB table"),
    ("kcl://arn:aws:kinesis:eu-west-1:123456789012:stream/orders", "no ARN of a DynamoDB table"),
    ("kcl://arn:aws:dynamodb:eu-west-1:1:index/x", "no ARN of a DynamoDB table"),
    ("kinsumer://arn:aws:dynamodb:eu-west-1:123456789012:table/orders",
     "kinsumer's table of positions is called NAME_checkpoints"),
    ("kcl://app?initial", "not name=value"), ("kcl://app?initial=", "has no value"),
    ("kcl://app?a=1&a=2", "stands twice"),
])
def test_refused_with_an_example(text, says):
    with pytest.raises(UsageError, match=re.escape(says)) as refused:
        parse(text)
    assert refused.value.next


def test_a_bare_name_is_shown_as_the_locators_that_it_may_be():
    with pytest.raises(UsageError) as refused:
        parse("orders-reader")
    assert refused.value.next.startswith("write it as kcl://orders-reader, or ")
    assert "kinsumer://orders-reader" in refused.value.next
    assert "redis" not in refused.value.next, "that is a server's name"
    for shown in re.findall(r"[a-z+-]+://[\w-]+", refused.value.next):
        assert parse(shown).target == "orders-reader"


def test_a_locator_without_slashes_is_shown_with_them():
    with pytest.raises(UsageError) as refused:
        parse("kcl:orders-reader?initial=LATEST")
    assert refused.value.next == "write it as kcl://orders-reader?initial=LATEST"


@pytest.mark.parametrize(("text", "meant"), [
    ("/data/ckpt", "write it as spark:/data/ckpt, or quickwit+file:///data/ckpt"),
    ("./ckpt", "write it as spark:./ckpt"),
    ("s3a://lake/jobs", "write it as spark+s3://lake/jobs, or quickwit+s3://lake/jobs"),
    ("hdfs://node:8020/ckpt", "write it as spark:hdfs://node:8020/ckpt"),
    ("file:///data", "write it as spark:/data, or quickwit+file:///data"),
    ("arn:aws:dynamodb:eu-west-1:123456789012:table/orders-reader",
     "write it as kcl://arn:aws:dynamodb:eu-west-1:123456789012:table/orders-reader, or "
     "kinesis-consumer+ddb://arn:aws:dynamodb:eu-west-1:123456789012:table/orders-reader"),
    ("arn:aws:dynamodb:eu-west-1:1:table/orders-reader",
     "write it as kcl://orders-reader, or kinsumer://orders-reader, "
     "kinesis-consumer+ddb://orders-reader; it is in --table-region eu-west-1"),
    ("arn:aws:kinesis:eu-west-1:123456789012:stream/orders",
     "that is a stream: --stream arn:aws:kinesis:eu-west-1:123456789012:stream/orders; "
     "reshardctl discover orders finds its tables"),
    ("arn:aws:s3:::lake/jobs", "write it as spark+s3://lake/jobs, or quickwit+s3://lake/jobs"),
    ("kcl:/x", "write it as kcl://x"), ("kcl:///orders", "write it as kcl://orders"),
    ("KCL://orders?initial=LATEST", "write it as kcl://orders?initial=LATEST"),
    ("kcl//orders?initial=LATEST", "write it as kcl://orders?initial=LATEST"),
    ("KCL//orders", "write it as kcl://orders"),
    ("kinesis-consumer+ddb//tab", "did you mean kinesis-consumer+ddb://tab?"),
    ("postgres//me:s3cr3t@h/db", "write it as kinesis-consumer+postgres://me:***@h/db, or "
     "quickwit+postgres://me:***@h/db"),
    ("a//b", "write it as spark:a//b"),
    ("kc://orders", "did you mean kcl://orders?"),
    ("dynamodb://orders", "write it as kcl://orders, or kinsumer://orders, "
     "kinesis-consumer+ddb://orders"),
    ("quickwit://x", "write it as quickwit+http://x, or quickwit+https://x"),
    ("quickwit:///var/lib/q?index=logs", "write it as quickwit+file:///var/lib/q?index=logs"),
    ("quickwit+file:/var/q", "write it as quickwit+file:///var/q"),
    ("quickwit+file://var/q", "write it as quickwit+file:///var/q"),
    ("redis://me:s3cr3t@host:6379/0?app=x",
     "write it as kinesis-consumer+redis://me:***@host:6379/0?app=x"),
    ("postgresql://host/db",
     "write it as kinesis-consumer+postgres://host/db, or quickwit+postgres://host/db"),
    ("orders.snapshot", "write it as snapshot:orders.snapshot"),
])
def test_what_was_meant_is_filled_in(text, meant):
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert refused.value.next == meant


def test_the_help_shows_every_kind_of_locator():
    kinds = [scheme for scheme in SCHEMES if scheme not in ("tree", "base+sql")]
    page = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    for shown in ("\n".join(f"`{locator}` `{also}`" for locator, also in LOCATORS), page):
        for kind in kinds:
            assert f"`{kind}:" in shown or f"+{kind.partition('+')[2]}`" in shown, kind
    for locator, _ in LOCATORS:
        assert parse(locator.replace("BUCKET", "bucket")).target


def test_another_store_of_the_kind():
    locator = parse("base+sql://me:pw@host/db?app=x").elsewhere("host/other", {"app": "y"})
    assert (locator.text, locator.password) == ("base+sql://host/other?app=y", "")
    assert parse("tree:/a?x=1").elsewhere("/b", {}).text == "tree:/b"


@pytest.mark.parametrize("name", ["etl", "etl:one", "a/b"])
def test_names_are_no_locators(name):
    assert not looks_like_one(name)
