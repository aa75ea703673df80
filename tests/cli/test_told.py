"""What is said of a configuration that cannot be read, and of rows that hold no place."""

from __future__ import annotations

from typing import cast

import pytest

from reshardctl.commands.connect import _session, catalog_of, kinesis_of, listed, ports_of
from reshardctl.commands.count_sink import reach_of
from reshardctl.commands.observer import SILENT
from reshardctl.commands.places import region_set
from reshardctl.commands.requests import Account, Sink
from reshardctl.consumers.locator import parse
from reshardctl.errors import UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.fast import FastReader, Reach
from reshardctl.model import Create, Update, Write, shard_id
from reshardctl.render.content.findings import phrases
from reshardctl.report.changes import Action, Changed


def test_a_configuration_that_cannot_be_read_is_named_and_no_profile(monkeypatch, tmp_path):
    config = tmp_path / "config"
    config.write_text("[default\nregion = us-east-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with pytest.raises(UsageError) as told:
        _session(Account(), {})
    assert str(config) in told.value.what
    assert "AWS_PROFILE" not in told.value.what
    assert "AWS_CONFIG_FILE" in told.value.next


def test_a_profile_that_is_not_there_is_named(monkeypatch, tmp_path):
    config = tmp_path / "config"
    config.write_text("[default]\nregion = us-east-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(UsageError, match=r"AWS_PROFILE.*nobody"):
        _session(Account(), {})


ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"


@pytest.fixture
def no_region(monkeypatch, tmp_path):
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))


@pytest.mark.usefixtures("no_region")
@pytest.mark.parametrize("stream", ["orders", "arn:aws:kinesis"])
def test_without_a_region_one_is_asked_for(stream):
    with pytest.raises(UsageError, match="no region is set for the stream") as told:
        listed(Account(), stream, SILENT)
    assert told.value.next == "add --region, or set AWS_DEFAULT_REGION"


@pytest.mark.parametrize("config", ["", "[default]\nregion =\n"])
@pytest.mark.usefixtures("no_region")
def test_an_empty_region_is_not_set(monkeypatch, tmp_path, config):
    """botocore takes an empty AWS_DEFAULT_REGION for a region, and asks https://kinesis..amaz…"""
    (tmp_path / "config").write_text(config)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "")
    for call in (
        lambda: listed(Account(), "orders", SILENT),
        lambda: catalog_of(Account()),
        lambda: FastReader(Reach(), "orders"),
        lambda: ports_of(Account(), parse("kcl://a-table"), SILENT, ARN),
        lambda: ports_of(Account(), parse("kcl://a-table"), SILENT, "orders"),
    ):
        with pytest.raises(UsageError, match="no region is set for") as told:
            call()
        assert "set AWS_DEFAULT_REGION" in told.value.next
    assert region_set(Account()) is None


@pytest.mark.usefixtures("no_region")
def test_the_profiles_region_counts_where_the_variable_is_empty(monkeypatch, tmp_path):
    (tmp_path / "config").write_text("[default]\nregion = eu-west-1\n")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "")
    assert region_set(Account()) == catalog_of(Account()).region == "eu-west-1"
    assert Reach().client().meta.region_name == "eu-west-1"


@pytest.mark.usefixtures("no_region")
def test_an_arn_names_the_streams_region():
    assert kinesis_of(Account(), ARN, SILENT).region == "eu-west-1"
    assert kinesis_of(Account("us-east-1"), ARN, SILENT).region == "eu-west-1"
    assert kinesis_of(Account("us-east-1"), "orders", SILENT).region == "us-east-1"


@pytest.mark.usefixtures("no_region")
def test_without_a_region_that_of_the_arn_is_offered_for_the_table():
    with pytest.raises(UsageError, match="no region is set for table a-table") as told:
        ports_of(Account(), parse("kcl://a-table"), SILENT, ARN)
    assert told.value.next == (
        "add --table-region eu-west-1, that of the stream's ARN, or set AWS_DEFAULT_REGION"
    )


def test_sparks_tasks_read_the_stream_in_its_own_region():
    """Not in that of the account, which may be the table's."""
    assert reach_of(Account("us-east-1"), Sink("path"), "eu-west-1").region == "eu-west-1"


def test_a_region_that_is_merely_set_is_not_taken_for_the_tables(monkeypatch):
    """A table of the same name may be in both: the twin of an application in each region."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with pytest.raises(UsageError, match="in which of them is the table") as told:
        ports_of(Account(), parse("kcl://a-table"), SILENT, ARN)
    assert told.value.next == "add --table-region eu-west-1 or --table-region us-east-1"
    for account, locator in (
        (Account(table_region="us-east-1"), "kcl://a-table"),
        (Account("eu-west-1"), "kcl://a-table"),
        (Account(), "kcl://arn:aws:dynamodb:us-east-1:123456789012:table/a-table"),
        (Account(), "kinesis-consumer+redis://h/0?app=a"),
    ):
        kinesis = ports_of(account, parse(locator), SILENT, ARN).kinesis
        assert cast("Kinesis", kinesis).region == "eu-west-1"


@pytest.mark.parametrize(("action", "said"), [
    (Action.MOVE, "mark 3, 4 as not begun"), (Action.CREATE, "write 3, 4 as not begun"),
])  # fmt: skip
def test_a_row_is_marked_as_never_read(action, said):
    """kinsumer's row of a shard that is not begun holds no place: SequenceNumber is NULL."""
    change = Create({}) if action is Action.CREATE else Update({})
    changed = [
        Changed(shard_id(n), action, None, "not begun", Write("row", change, None, ""))
        for n in (3, 4)
    ]
    assert phrases(changed, verbose=False) == [said]
