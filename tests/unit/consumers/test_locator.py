"""Locators as DESIGN draws them: what is taken, what is refused, and where a password goes."""

from __future__ import annotations

import re

import pytest

from reshardctl.consumers.locator import SCHEMES, looks_like_one, parse
from reshardctl.consumers.spec import Scheme
from reshardctl.errors import UsageError

SERVER = re.compile(r"(?:[^/@:]+@)?[a-z0-9.-]+(?::[0-9]+)?/[a-z0-9_]+\Z")


@pytest.fixture(autouse=True)
def _schemes(monkeypatch):
    monkeypatch.setitem(SCHEMES, "tree", Scheme(
        "x", "files", re.compile(r"[^\0]+\Z"), "folder", "tree:/a/folder", bare=True))
    monkeypatch.setitem(SCHEMES, "base+sql", Scheme(
        "x", "sql", SERVER, "database", "base+sql://HOST/DB", server=True))


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
    ("kcl:app", "// is missing"), ("kcl://a b", "'a b' is no name of a DynamoDB table"),
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


def test_another_store_of_the_kind():
    locator = parse("base+sql://me:pw@host/db?app=x").elsewhere("host/other", {"app": "y"})
    assert (locator.text, locator.password) == ("base+sql://host/other?app=y", "")
    assert parse("tree:/a?x=1").elsewhere("/b", {}).text == "tree:/b"


@pytest.mark.parametrize("name", ["etl", "etl:one", "a/b"])
def test_names_are_no_locators(name):
    assert not looks_like_one(name)
