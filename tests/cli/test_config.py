"""`config show`, `config check` and `config iam`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.commands.target import repair_options_of
from reshardctl.config.reading import load
from tests.cli.test_configured import configure
from tests.whole.test_iam import documented

pytestmark = pytest.mark.usefixtures("in_tmp_path")

ROLE = "arn:aws:iam::210987654321:role/reader"
MORE = (
    "[consumers.other]", 'stream = "all-orders"', 'locator = "kcl://other-app?release=3.5"',
    'accept = "reread=3h"', 'journal = "s3://ops/journals"', f'role_arn = "{ROLE}"',
    'endpoint_url = { sts = "https://sts.example" }',
    "[[suppress]]", 'consumer = "other"', 'rule = "RSH205"', 'shards = [2, 3]',
    "until = 2026-12-31", 'why = "say \\"yes\\" # twice"',
)  # fmt: skip


def test_what_is_shown_reads_back_as_the_same(lab):
    stream = f"created = 2026-09-22T09:14:00.5Z\nregion = 'eu-west-1'\nrole_arn = '{ROLE}'"
    path = configure(lab, *MORE, stream=stream, consumer='role_arn = ""')
    first = lab.cli("config", "show")
    assert first.code == 0 and lab.wire.calls == []
    Path("again.toml").write_text(first.out, encoding="utf-8")
    before, after = load(path, repair_options_of), load(Path("again.toml"), repair_options_of)
    assert meaning(before) == meaning(after)


def meaning(config) -> list:
    """All that a configuration says, without where it says it."""
    return [
        [(s.name, s.stream, s.created, reach(s)) for s in config.streams.values()],
        [(c.name, c.stream.name, c.locator, c.policy, c.accept, c.journal, reach(c))
         for c in config.consumers.values()],
        [(s.consumer, s.rule, s.shards, s.until, s.day, s.why) for s in config.suppressions],
    ]  # fmt: skip


def reach(entry) -> tuple:
    one = entry.reach
    return one.region, one.profile, one.role, dict(one.endpoints)


def test_every_value_has_its_source(lab):
    configure(lab, *MORE)
    lines = lab.cli("config", "show").out.splitlines()
    (accept,) = [line for line in lines if line.startswith("accept")]
    policies = [line for line in lines if line.startswith("policy")]
    assert accept.endswith("# reshardctl.toml:11")
    assert all(line.endswith("# default") for line in policies) and len(policies) == 2


def test_check_calls_nothing(lab):
    configure(lab, *MORE)
    result = lab.cli("config", "check")
    assert result.code == 0 and lab.wire.calls == []
    assert "1 stream, 2 consumers, 1 suppression" in result.out


def test_check_names_the_line(lab):
    configure(lab, "[[suppress]]", 'consumer = "app"', 'rule = "RSH205"', "until = 2026-12-31")
    result = lab.cli("config", "check")
    assert result.code == 2 and result.says("reshardctl.toml:8", "without why")


def test_check_online_tells_of_each(lab):
    lost = lab.locator.replace("kcl://", "kcl://not-")
    configure(lab, "[consumers.lost]", 'stream = "all-orders"', f'locator = "{lost}"')
    result = lab.cli("config", "check", "--online")
    app, lost, *_ = [line for line in result.out.splitlines() if line[:4] in ("app ", "lost")]
    assert "stream orders with 4 shards, 2 rows" in app and "there is no table" in lost
    assert result.code == 2 and lab.wire.writes == []
    assert lab.cli("config", "check", "--online", "app").code == 0


@pytest.mark.parametrize("group", ["inspect", "probe", "fix"])
def test_the_policy_is_that_of_the_page(lab, group):
    """Exactly docs/iam.md's actions, which are exactly those used (tests/cli/test_iam.py)."""
    configure(lab, stream="region = 'eu-west-1'")
    result = lab.cli("config", "iam", "--for", group, "--account", "123456789012")
    policy = json.loads(result.out)
    assert {a for s in policy["Statement"] for a in s["Action"]} == documented(group)
    table = lab.locator.partition("://")[2].partition("?")[0]
    resources = json.dumps([s["Resource"] for s in policy["Statement"]])
    assert "arn:aws:kinesis:eu-west-1:123456789012:stream/orders" in resources
    assert f"arn:aws:dynamodb:eu-west-1:123456789012:table/{table}\"" in resources
    assert "*" not in resources and lab.wire.calls == []


def test_two_consumers_of_a_stream_say_its_statement_once(lab):
    configure(lab, *MORE[:3], stream="region = 'eu-west-1'")
    policy = json.loads(lab.cli("config", "iam", "--account", "123456789012").out)
    resources = [json.dumps(s["Resource"]) for s in policy["Statement"]]
    assert len(resources) == len(set(resources)) == 5


def test_every_identity_has_its_own(lab):
    """Whoever assumes a role needs to be allowed that, and nothing of what the role does."""
    configure(lab, *MORE, stream="region = 'eu-west-1'")
    argv = ["config", "iam", "--for", "fix", "--account", "123456789012", "other"]
    role = json.loads(lab.cli(*argv, "--as", ROLE).out)
    own = json.loads(lab.cli(*argv, "--as", "environment").out)
    services = [{a.partition(":")[0] for s in p["Statement"] for a in s["Action"]}
                for p in (role, own)]  # fmt: skip
    assert services == [{"dynamodb", "s3"}, {"kinesis", "sts"}]
    assert "210987654321:table/other-app" in json.dumps(role)
    s3 = [s for s in role["Statement"] if s["Action"][0].startswith("s3:")]
    assert {s["Resource"] for s in s3} == {"arn:aws:s3:::ops", "arn:aws:s3:::ops/journals/*"}
    assert lab.cli(*argv).out.count("# ") == 2
    wrong = lab.cli(*argv, "--as", "nobody")
    assert wrong.code == 2 and wrong.says("--as nobody")


@pytest.mark.parametrize(
    ("stream", "words", "said"),
    [("", [], "region is not said"), ("region = 'eu-west-1'", [], "account is not said"),
     ("region = 'eu-west-1'", ["--account", "12"], "twelve digits")],
)  # fmt: skip
def test_what_an_arn_lacks_is_asked(lab, stream, words, said):
    configure(lab, stream=stream)
    result = lab.cli("config", "iam", *words)
    assert result.code == 2 and result.says(said)


@pytest.mark.parametrize(
    ("region", "partition"),
    [("eu-west-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_partitions(lab, region, partition):
    configure(lab, stream=f"region = '{region}'")
    policy = json.loads(lab.cli("config", "iam", "--account", "123456789012").out)
    assert {s["Resource"].split(":")[1] for s in policy["Statement"][:2]} == {partition}


@pytest.mark.parametrize("verb", ["check", "show", "iam"])
def test_a_configuration_that_is_not_there(lab, tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    result = lab.cli("config", verb)
    assert result.code == 2 and result.says("there is no reshardctl.toml", "--config")
    assert "no consumer" not in result.err
    assert lab.cli("inspect").says("no consumer is named", "kcl://my-application")


def test_check_online_finds_a_start_in_the_future(lab):
    lab.options = "?initial=AT_TIMESTAMP:2100-01-01T00:00:00Z"
    configure(lab)
    assert lab.cli("config", "check").code == 0, "it has no clock"
    result = lab.cli("config", "check", "--online")
    assert result.code == 2 and "a time in the future" in result.out
