"""Whatever is wrong with what we are given: one clear message, the right code, nothing written."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import TRIM_HORIZON, Lab, Result
from tests.support.case import CASES, load
from tests.support.covering import covering
from tests.support.lease_server import LeaseTable

pytestmark = pytest.mark.slow

VERBS = [("inspect",), ("fix", "--dry-run"), ("fix", "--yes", "--assume-stopped"), ("explain", "0")]
every_verb = pytest.mark.parametrize("verb", VERBS, ids=" ".join)


def call(lab: Lab, verb: tuple[str, ...], *more: str | Path) -> Result:
    """A command of which nothing may be left: no row changed, no journal."""
    before = lab.items()
    result = lab.cli(verb[0], *lab.where, *verb[1:], *more)
    assert lab.wire.writes == [] and lab.fake.mutating_calls == []
    assert lab.items() == before
    assert lab.journals() == []
    assert result.out == ""
    return result


# Where it is looked for


@every_verb
def test_an_unknown_table(lab, verb):
    lab.options = ""
    result = lab.cli(verb[0], "kcl://no-such-table", "--stream", "orders", *verb[1:])
    assert result.code == 2
    assert result.says("no table no-such-table in us-east-1")
    assert result.says("reshardctl discover orders --region us-east-1")
    assert lab.wire.writes == []


@pytest.mark.parametrize("locator", [
    "kinsumer://no-such?release=twitch", "kinesis-consumer+ddb://no-such?app=a&release=0.5.0",
])
def test_an_unknown_table_of_every_library_is_looked_for_with_discover(lab, locator):
    url = f"dynamodb={lab.servers.dynamodb}"
    result = lab.cli("inspect", locator, "--stream", "orders", "--endpoint-url", url)
    assert result.code == 2 and result.says("there is no table no-such")
    (line,) = [line for line in result.err.splitlines() if "reshardctl discover" in line]
    words = line.split()[1:]
    assert words[words.index("--endpoint-url") + 1] == url


def test_a_log_of_spark_in_a_table_is_not_looked_for_with_discover(lab, tmp_path):
    """`discover` knows tables by their keys, and the log's are those of no library."""
    (tmp_path / "c" / "offsets").mkdir(parents=True)
    where = f"spark:{tmp_path}/c?log=no-such-table&release=awslabs-1.4"
    result = lab.cli("inspect", where, "--stream", "orders")
    assert result.code == 2
    assert result.says("no table no-such-table", "aws dynamodb list-tables --region us-east-1")


@every_verb
def test_an_unknown_stream(lab, verb):
    lab.stream = "no-such-stream"
    result = call(lab, verb)
    assert result.code == 2 and result.says("no stream no-such-stream", "aws kinesis list-streams")


@every_verb
def test_a_wrong_region(lab, verb):
    result = call(lab, verb, "--region", "eu-west-1")
    assert result.code == 2 and result.says("no stream orders in eu-west-1", "--table-region")


def test_an_arn_of_another_region(lab):
    lab.stream = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
    result = call(lab, ("inspect",))
    assert result.code == 2 and result.says(
        "orders is in eu-west-1", "add --table-region eu-west-1 or --table-region us-east-1"
    )


def test_an_unknown_profile(lab):
    result = lab.cli("inspect", *lab.where, "--profile", "no-such-profile")
    assert result.code == 2 and result.says("profile no-such-profile", "could not be found")
    table = lab.cli("inspect", *lab.where, "--table-profile", "no-such-profile")
    assert table.code == 2 and table.says("profile no-such-profile", "--table-profile")


# What is found there


@every_verb
def test_another_streams_table(lab, verb):
    """A younger number that fits no shard of this stream: never fixed."""
    from reshardctl.testing.topology import stream_of

    lab.fake.add_stream(stream_of({
        "name": "clicks", "created": int(lab.fake.clock.now()) - 60, "now": 60, "shards": [
            {"id": 77, "range": ["0", "1"], "open": 0, "records": {"n": 1, "from": 5, "to": 5}},
        ],
    }))
    number = lab.fake.stream("clicks").shards[77].records[0].number
    lab.alter("shardId-000000000001", checkpoint={"S": str(number)})
    result = call(lab, verb)
    assert result.code == 2, result.err
    assert result.says("shardId-000000000001", "belongs to another stream", "--stream")


@every_verb
def test_a_table_with_another_key(lab, verb):
    other = LeaseTable(lab.servers.dynamodb, key="id")
    result = lab.cli(verb[0], f"kcl://{other.name}", "--stream", "orders", *verb[1:])
    assert result.code == 2 and result.says(other.name, "holds no leases", "HASH id (S)")
    assert result.says("reshardctl discover orders --region us-east-1")


STREAM = "123456789012:orders:1795219200"


@pytest.mark.parametrize(("key", "more", "what"), [
    (f"{STREAM}:shardId-000000000000", {"streamName": {"S": STREAM}},
     "of a multi-stream application"),
    ("order-4711", {"status": {"S": "paid"}}, ""),
], ids=["multi-stream", "no lease"])  # fmt: skip
def test_a_row_of_something_else(lab, key, more, what):
    """KCL 2.7.2 and 3.5.1 in single-stream mode read the other rows (runs, November 2026; the case
    foreign-row)."""
    lab.plant({"leaseKey": {"S": key}, **more})
    row = lab.items()[key]
    found = {one["code"]: one for one in lab.inspect("--format", "json").json["findings"]}
    assert {"RSH203", "RSH302"} <= found.keys() and what in found["RSH302"]["what"]
    assert lab.fix().code == 0
    assert lab.items()[key] == row
    codes = {one["code"] for one in lab.inspect("--format", "json").json["findings"]}
    assert codes == {"RSH302"}


@every_verb
def test_an_empty_table(lab, verb):
    lab.empty()
    result = call(lab, verb)
    assert result.code == 6
    assert result.says("holds no position", "--bootstrap")


@pytest.mark.parametrize(("policy", "wanted"), [
    # EmptyLeaseTableSynchronizer: at TRIM_HORIZON the oldest shards get leases, their children
    # when they end; at LATEST the open ones do (KCL 3.5.1, runs November 2026).
    ("lossless", {"0": "TRIM_HORIZON", "1": "TRIM_HORIZON"}),
    ("latest-at-start", {"1": "LATEST", "2": "LATEST", "3": "LATEST"}),
])  # fmt: skip
def test_an_empty_table_that_is_declared_new(lab, policy, wanted):
    lab.empty()
    shown = lab.dry("--bootstrap", "--policy", policy)
    assert shown.code == 1 and lab.wire.writes == []
    done = lab.fix("--bootstrap", "--policy", policy)
    assert done.code == 0, done.err
    assert {k: v["checkpoint"]["S"] for k, v in lab.items().items()} == {
        f"shardId-{int(shard):012d}": position for shard, position in wanted.items()
    }
    assert lab.inspect().code == 0
    assert lab.undo().code == 0
    assert lab.items() == {}


@pytest.mark.parametrize("policy", ["lossless", "latest", "at-timestamp=2026-11-21T00:00:00Z"])
def test_bootstrap_moves_no_positions_that_are_there(lab, tmp_path, policy):
    """A table whose name was mistyped may be another application's."""
    before, plan = lab.items(), tmp_path / "app.plan"
    for refused in (
        lab.fix("--bootstrap", "--policy", policy, "--accept", "skip=all,reread=all,disorder"),
        lab.dry("--bootstrap", "--policy", policy), lab.dry("--bootstrap", "--out", plan),
    ):
        assert refused.code == 4 and refused.says("has positions of", "leave --bootstrap out")
    assert (lab.items(), lab.journals(), plan.exists()) == (before, [], False)


@pytest.mark.parametrize("policy", ["lossless", "at-timestamp=2026-11-21T00:10:00Z"])
def test_a_second_bootstrap_has_nothing_left_to_write(lab, policy):
    lab.empty()
    assert lab.fix("--bootstrap", "--policy", policy).code == 0
    before, again = lab.items(), lab.fix("--bootstrap", "--policy", policy)
    assert again.code == 0, again.err
    assert lab.items() == before


# What is not allowed, and what does not answer


CALLS = [
    ("DescribeStreamSummary", "kinesis"), ("ListShards", "kinesis"),
    ("DescribeTable", "dynamodb"), ("Scan", "dynamodb"),
]  # fmt: skip
ERRORS = [
    ("AccessDeniedException", "no permission for {where}:{action}"),
    ("ExpiredTokenException", "credentials"),
    ("UnrecognizedClientException", "credentials"),
    ("ThrottlingException", "throttled"),
    ("ProvisionedThroughputExceededException", "throttled"),
    ("InternalServerError", "again later"),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "action", "where", "code", "said"), [
    pytest.param(verb, *called, *error, id=f"{called[0]}-{error[0]}-{verb[0]}")
    for place, called in enumerate(CALLS) for turn, error in enumerate(ERRORS)
    for verb in [VERBS[(place + turn) % len(VERBS)]]
])  # fmt: skip
def test_calls_that_fail(lab, verb, action, where, code, said):
    """Each error of each call; every verb meets each of them, and each call."""
    status = 500 if code.startswith("Internal") else 400
    lab.wire.fail(action, code, status)
    result = call(lab, verb)
    assert result.code == 3, result.err
    assert result.says(said.format(where=where, action=action))
    if "permission" in said:
        assert '"Effect": "Allow"' in result.err


@pytest.mark.parametrize("action", ["GetShardIterator", "GetRecords"])
def test_a_probe_that_is_not_allowed(lab_of, action):
    lab = lab_of("h-open", "?initial=LATEST&release=3.5.1")
    lab.wire.fail(action, "AccessDeniedException")
    result = call(lab, ("inspect", "--probe"))
    if action in {operation for _, operation in lab.wire.calls}:
        assert result.code == 3 and result.says(f"no permission for kinesis:{action}")


@pytest.mark.parametrize(("code", "status", "wanted"), [
    ("AccessDeniedException", 400, 4), ("ExpiredTokenException", 400, 4),
    ("ThrottlingException", 400, 3),
])  # fmt: skip
def test_a_first_write_that_fails(lab_of, code, status, wanted):
    lab = lab_of("a-one", TRIM_HORIZON)
    before = lab.items()
    lab.wire.fail_writes(code, status)
    result = lab.fix()
    assert result.code == wanted, result.err
    assert result.says("")
    assert lab.items() == before


def several_steps(lab_of) -> Lab:
    """Two splits, both broken the same way: two families, two steps."""
    case = load(CASES / "kcl" / "a-both.toml")
    return lab_of(twofold(case), TRIM_HORIZON)


def twofold(case):
    """The case's table over a stream with a second family like the first."""
    from dataclasses import replace

    from tests.support.case_rows import item_of
    from tests.support.case_stream import filled, resolve

    shards = []
    for number, side in ((0, 0), (1, 1)):
        half = ["0", "1/2"] if side == 0 else ["1/2", "1"]
        shards.append({"id": number, "range": half, "open": 0, "close": 600,
                       "records": {"n": 4, "from": 60, "to": 540}})  # fmt: skip
    quarters = ["0", "1/4", "1/2", "3/4", "1"]
    for index in range(4):
        shards.append({
            "id": 2 + index, "range": [quarters[index], quarters[index + 1]],
            "parents": [index // 2], "open": 601, "records": {"n": 2, "from": 660, "to": 900},
        })  # fmt: skip
    stream = filled({"created": case.stream["created"], "now": case.stream["now"],
                     "shards": shards})  # fmt: skip
    topology = resolve(stream)
    rows = [item_of({"shard": n, "checkpoint": "SHARD_END", "children": kids}, topology)
            for n, kids in ((0, [2, 3]), (1, [4, 5]))]  # fmt: skip
    return replace(case, stream=stream, topology=topology, rows=rows, foreign=[])


def kept(items):
    left_out = {"leaseCounter", "leaseOwner", "checkpointOwner"}
    return {k: {n: v for n, v in i.items() if n not in left_out} for k, i in items.items()}


# Listings that do not hold together, streams that move


def test_a_torn_listing(lab):
    from reshardctl.testing.faults import cut_page

    lab.fake.faults.add("ListShards", cut_page(1), times=None)
    result = call(lab, ("inspect",))
    assert result.code == 3 and result.says("does not settle", "describe-stream-summary")
    assert sum(lab.slept) <= 60


# A stream that was made anew


def test_a_recreated_stream_needs_its_time(lab_of):
    lab = lab_of("recreated", TRIM_HORIZON)
    refused = lab.fix()
    assert refused.code == 4
    assert refused.says("--recreated CREATION-TIME", "describe-stream-summary")
    wrong = lab.fix("--recreated", "2020-01-01T00:00:00Z")
    assert wrong.code == 4 and wrong.says("--recreated", "StreamCreationTimestamp")
    assert lab.created not in refused.err + wrong.err
    assert lab.wire.writes == []
    assert lab.fix("--recreated", lab.created).code == 0
    assert lab.undo().code == 0


def test_recreated_where_nothing_was(lab):
    refused = lab.fix("--recreated", lab.created)
    assert refused.code == 4 and refused.says("leave --recreated out")
    assert lab.wire.writes == []


def test_a_table_younger_than_its_stream_needs_no_time(lab_of):
    """DescribeTable's CreationDateTime: no row can be of an earlier stream."""
    lab = lab_of("b", TRIM_HORIZON)
    for key, row in lab.items().items():
        if row["checkpoint"]["S"].isdigit():
            lab.alter(key, checkpoint={"S": "TRIM_HORIZON"})
    assert lab.dry("--format", "json").json["incarnation"] == "ambiguous"
    assert lab.fix().code == 0


@pytest.mark.usefixtures("restored")
def test_a_table_without_a_number_needs_the_time(lab_of, tmp_path):
    """test_consent.py has what a saved plan asks for."""
    lab = lab_of("b", TRIM_HORIZON)
    for key, row in lab.items().items():
        if row["checkpoint"]["S"].isdigit():
            lab.alter(key, checkpoint={"S": "TRIM_HORIZON"})
    shown = lab.dry("--format", "json")
    assert (shown.json["incarnation"], shown.json["decision"]["kind"]) == ("ambiguous", "plan")
    unsaved = lab.dry("--out", tmp_path / "a.plan")
    assert unsaved.code == 4 and unsaved.says("--created CREATION-TIME")
    assert not (tmp_path / "a.plan").exists()
    refused = lab.fix()
    assert refused.code == 4 and refused.says("--created CREATION-TIME", "describe-stream-summary")
    wrong = lab.fix("--created", "2020-01-01T00:00:00Z")
    assert wrong.code == 4 and wrong.says("--created")
    assert lab.created not in unsaved.err + refused.err + wrong.err
    assert lab.wire.writes == []


# Words that cannot be acted on


def test_a_time_with_its_zone_in_a_locator(lab):
    """A plus is a plus, as in +02:00."""
    lab.options = "?initial=AT_TIMESTAMP:2026-11-21T02:00:00+02:00&release=3.5.1"
    assert lab.inspect().code in (0, 1)


# Files and folders


def test_a_plan_that_is_made_again_gets_a_name_that_is_free(lab, tmp_path):
    """The usual way after a stale plan is the command that made it: a second time."""
    for _ in range(2):
        assert lab.dry("--out", tmp_path / "a.plan").code in (1, 2)
    taken = lab.dry("--out", tmp_path / "a.plan")
    assert taken.code == 2 and taken.says("exists already", f"--out {tmp_path / 'a-2.plan'}")
    assert lab.dry(*taken.err.split("another file: ")[1].split()).code == 1
    taken = lab.dry("--out", tmp_path / "a.plan")
    assert taken.says(f"--out {tmp_path / 'a-3.plan'}")


def test_a_plan_onto_an_existing_file_is_refused_before_anything_is_read(lab, tmp_path):
    path = tmp_path / "a.plan"
    path.write_text("mine")
    lab.wire.calls.clear()
    result = lab.dry("--out", path)
    assert result.code == 2 and result.says(str(path), "exists already", "--out")
    assert path.read_text() == "mine"
    result = lab.dry("--out", tmp_path / "no" / "such")
    assert result.code == 2 and result.says(f"{tmp_path}/no/such: No such file or directory")
    (tmp_path / "circle").symlink_to("circle")
    result = lab.dry("--out", tmp_path / "circle")
    assert result.code == 2 and result.says("circle")
    assert lab.wire.calls == []


def test_a_plan_into_a_pipe(lab, tmp_path):
    """As `fix --out /dev/stdout | jq` and `--out >(tee ...)` do."""
    reader, writer = os.pipe()
    assert lab.dry("--out", tmp_path / "a.plan").code == 1
    assert lab.dry("--out", f"/dev/fd/{writer}").code == 1
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as file:
        assert file.read() == (tmp_path / "a.plan").read_text(encoding="utf-8")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_state_directory(lab):
    lab.state.mkdir(mode=0o500)
    result = lab.fix()
    assert result.code == 2 and result.says("--journal")
    assert lab.wire.writes == []


def test_a_state_directory_that_is_none_is_refused_before_anything_is_read(lab, tmp_path):
    plan = tmp_path / "a.plan"
    assert lab.dry("--out", plan).code == 1
    shutil.rmtree(lab.state)  # where the plan was noted; without that it is from elsewhere
    lab.state.write_text("a file")
    before = lab.items()
    lab.wire.calls.clear()
    many = ("fix", lab.locator, f"{lab.locator}&failover=10s", "--stream", "orders", "--yes")
    for result in (lab.fix(), lab.cli("fix", "--plan", plan, "--yes"), lab.cli(*many),
                   lab.cli("undo", plan, "--yes", "--assume-stopped")):  # fmt: skip
        assert result.code == 2
        told = dataclasses.replace(result, err=result.err[result.err.index("error: ") :])
        assert told.says("cannot write journal", "--journal", "RESHARDCTL_STATE_DIR")
        assert str(lab.state) in told.err and result.out == ""
    assert lab.wire.calls == [] and lab.items() == before


def test_what_writes_nothing_needs_no_state_directory(lab, tmp_path):
    lab.state.write_text("a file")
    assert lab.inspect().code == 1 and lab.dry().code == 1
    assert lab.fix("--journal", tmp_path / "j.jsonl").code == 0
    assert lab.cli("undo", tmp_path / "j.jsonl", "--yes", "--assume-stopped").code == 0


def test_a_user_without_a_home_directory(lab, tmp_path, monkeypatch):
    """A container's user without an entry in passwd: Path.home() raises RuntimeError then."""
    def nobody(_uid: int) -> None:
        raise KeyError("uid not found")

    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert lab.fix("--journal", tmp_path / "j.jsonl").code == 0
    shown = lab.cli("undo", "--show", tmp_path / "j.jsonl")
    assert shown.code == 0, shown.err
    assert lab.cli("undo", tmp_path / "j.jsonl", "--yes", "--assume-stopped").code == 0
    assert lab.cli("undo", "--list").code == 0
    assert lab.fix().code == 0 and len(lab.journals()) == 1
    for name in ("RESHARDCTL_STATE_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    listed = lab.cli("undo", "--list", "--format", "text")
    assert "/.local/state/reshardctl" in listed.out, listed.err


def test_a_journal_that_exists(lab, tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_text("mine")
    lab.wire.calls.clear()
    result = lab.fix("--journal", path)
    assert result.code == 2 and result.says("exists already")
    assert path.read_text() == "mine" and lab.wire.calls == []


def test_a_journal_that_cannot_be_made_is_refused_before_anything_is_read(lab, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    lab.wire.calls.clear()
    for place in (file / "deeper" / "j.jsonl", f"{file}/deeper/", f"{file}/"):
        result = lab.fix("--journal", place)
        assert result.code == 2 and result.says("cannot write journal", f"{file} is no directory")
    assert lab.wire.calls == []


def test_an_output_that_cannot_be_written_stops_a_fix_before_it_writes(lab, tmp_path):
    for path in (tmp_path / "no" / "such", tmp_path):
        for argv in (["--format", "json"], []):
            result = lab.fix("--output", path, *argv)
            assert result.code == 2 and result.says(str(path))
    assert lab.wire.writes == [] and lab.journals() == []


def test_a_journal_of_another_table(lab):
    assert lab.fix().code == 0
    lab.remake_table()
    for argv in (["undo", lab.journal(), "--yes"], ["undo", lab.journal(), "--dry-run"]):
        result = lab.cli(*argv, "--assume-stopped")
        assert result.code == 2 and result.says("about another store")


def test_an_undo_after_the_consumer_has_saved(lab, monkeypatch):
    assert lab.fix().code == 0
    created = sorted(k for k, v in lab.items().items() if v["leaseCounter"] == {"N": "0"})[0]
    lab.alter(created, checkpoint={"S": "LATEST"}, leaseCounter={"N": "8"})
    saved = lab.items()
    lab.wire.calls.clear()
    result = lab.undo()
    assert result.code == 4 and result.says(created, "checkpoint")
    assert result.says(f"reshardctl fix '{lab.locator}' --stream arn:")
    assert lab.wire.writes == [] and lab.items() == saved
    _, show, fix = result.err.split("reshardctl ")
    journal = shlex.split(show, comments=True)
    shown = lab.cli(*journal)
    assert shown.code == 0 and created in shown.out
    words = shlex.split(fix)
    assert words[:1] == ["fix"] and "--set" in words
    assert lab.cli(*words).code == 1, "there is something to write"
    every = words.count("--set")
    assert every > 1
    monkeypatch.setattr("reshardctl.commands.undo_source.MOST_SET", 1)
    assert f"Back by hand, 1 of {every} shards: reshardctl fix" in lab.undo().err


# Rows that KCL itself cannot read: every malformed case is a finding, and never an accident


MALFORMED: dict[str, list[dict[str, Any] | None]] = {
    "leaseCounter": [None, {"S": "7"}, {"N": "1.5"}, {"BOOL": True}],
    "checkpoint": [None, {"N": "7"}, {"S": ""}, {"S": "nonsense"}, {"S": "\x1b[31m"}, {"L": []},
                   {"S": "9" * 5000}, {"S": "٣"}, {"S": "-5"}, {"S": "NULL"}],
    "checkpointSubSequenceNumber": [None, {"S": "x"}, {"N": "-1"}, {"N": "1E30"}],
    "parentShardId": [{"S": "shardId-000000000000"}, {"L": [{"S": "x"}]}, {"SS": ["\u202e"]},
                      {"SS": ["shardId-000000000002"]}, {"NULL": True}],
    "leaseOwner": [{"N": "1"}, {"NULL": True}],
    "startingHashKey": [{"S": "x"}, {"N": "1"}, {"S": "9" * 5000}],
    "ownerSwitchesSinceCheckpoint": [None, {"S": "x"}],
    "pendingCheckpoint": [{"N": "1"}, {"S": "\n"}],
    "entityType": [{"N": "1"}, {"S": ""}, {"S": "LEASE"}, {"S": "\x07"}],
}  # fmt: skip


def shown(row: tuple[str, Any, str]) -> list[Any]:
    """A value of another kind or length for an attribute, or one that no terminal may show."""
    name, value, options = row
    text = repr(value)
    return [(options, name, list(value or ""), len(text) > 99, "\\" in text)] if options else []


@pytest.mark.parametrize(("name", "value", "options"), covering(
    [(n, v, o) for n, vs in MALFORMED.items() for v in vs for o in (TRIM_HORIZON, "")],
    lambda row: map(str, shown(row)), lambda row: f"{row[0]}-{str(row[1])[:30]}-{row[2]}",
))
def test_a_malformed_row(lab_of, tmp_path, name, value, options):
    lab = lab_of("c", options)
    lab.alter("shardId-000000000000", **{name: value})
    before = lab.items()
    forms = [word for form in ("concise", "json")
             for word in ("--format", f"{form}={tmp_path / form}")]  # fmt: skip
    for verb in (["inspect", *forms], ["fix", "--dry-run"]):
        result = lab.cli(verb[0], *lab.where, *verb[1:], "--format", "text")
        assert result.code in (0, 1, 2, 4), (verb, result.err)
        assert "unexpected" not in result.err
        if result.code in (2, 4):
            assert result.says("")
        assert "\x1b" not in result.out + result.err and "\u202e" not in result.out
    for path in (tmp_path / "concise", tmp_path / "json"):
        text = path.read_text("utf-8")
        assert "\x1b" not in text and "\u202e" not in text
    told = lab.cli("explain", *lab.where, "0,2")
    assert told.code in (0, 2), told.err
    assert "\x1b" not in told.out + told.err and "\u202e" not in told.out
    assert lab.items() == before
