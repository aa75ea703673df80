"""Command lines that are wrong by themselves: exit 2, what is wrong and what helps, and no call.

A time or a duration that cannot be read is named with its option; of options that exclude each
other the message says why, and which of them to leave out.
"""

from __future__ import annotations

import pytest

from tests.cli.lab import Lab

ON = ("kcl://app", "--stream", "s")
SINK = ("audit", "/sink", "--stream", "s")
FIX, INSPECT, FORECAST = ("fix", *ON), ("inspect", *ON), ("inspect", *ON, "--if-reshard", "4")
DRY = (*FIX, "--dry-run")
SEVERAL = ("fix", "kcl://app1", "kcl://app2", "--stream", "s", "--yes")
PLAN = ("fix", "--plan", "a.plan")
RESUME = ("fix", "--resume", "a.jsonl")
TABLES, DISCOVER = ("config", "tables"), ("inspect", "--discover")
THERE = ("--table-region", "eu-west-1")
WHEN = "2026-11-21T00:00:00Z"


def located(locator: str, *more: str) -> tuple[str, ...]:
    return "inspect", locator, "--stream", "s", *more


TIMES = [
    ((*FIX, "--recreated", "soon"), "--recreated: 'soon' is no time"),
    ((*DRY, "--recreated", "2026-11-21T00:00:00"), "--recreated: '2026-11-21T00:00:00' has no"),
    ((*DRY, "--created", "soon"), "--created: 'soon' is no time"),
    ((*FIX, "--created", "2026-09-22"), "no zone"),
    ((*PLAN, "--recreated", "soon"), "--recreated"),
    ((*DRY, "--watch", "5"), "--watch: '5' is no duration"),
    ((*FIX, "--watch", "soon"), "no duration"),
    ((*DRY, "--watch", "9999999d"), "--watch: '9999999d' is longer than any retention"),
    ((*DRY, "--shift", "-5"), "--shift: '5' is no duration"),
    ((*DRY, "--shift", "2h"), "--shift 2h", "positions move back only"),
    ((*DRY, "--accept", "reread=5"), "--accept reread: '5' is no duration"),
    ((*INSPECT, "--accept", "reread"), "not known"),
    ((*DRY, "--policy", "at-timestamp=soon"), "--policy at-timestamp: 'soon' is no time"),
    ((*DRY, "--policy", "at-timestamp=-5"), "--policy at-timestamp: '5' is no duration"),
    ((*FIX, "--policy", "at-timestamp"), "needs a time"),
    ((*FIX, "--policy", "at-timestamp="), "needs a time"),
    ((*FIX, "--policy", "at-timestamp=2026-11-20T09:14:00"), "has no zone", "2026-11-20T09:14:00Z"),
    ((*FIX, "--policy", "at-timestamp=yesterday"), "is no time", "-90m", "@reshard"),
    ((*FIX, "--policy", "at-timestamp=+90m"), "is no time"),
    ((*DRY, "--set", "3=AT_TIMESTAMP:soon"), "--set 3=AT_TIMESTAMP:soon: 'soon' is no time"),
    (("undo", "--prune", "--older-than", "5"), "--older-than: '5' is no duration"),
    ((*INSPECT, "--wait", "5"), "--wait: '5' is no duration"),
    ((*INSPECT, "--wait", "99999999999d"), "3650d"),
    ((*INSPECT, "--watch", "5"), "--watch: '5' is no duration"),
    ((*INSPECT, "--watch", "2s"), "too short"),
    ((*INSPECT, "--every", "5"), "--every: '5' is no duration"),
    ((*INSPECT, "--every", "2s"), "too short"),
    ((*INSPECT, "--probe", "--probe-budget", "time=5"), "--probe-budget time: '5' is no"),
    *(((*INSPECT, "--probe", "--probe-budget", budget), "--probe-budget")
      for budget in ("calls", "calls=0", "reads=3", "calls=5,,", "calls=x", "calls=-1")),
    ((*INSPECT, "--until", "crossed"), "--wait 15m --until crossed"),
    *(((*INSPECT, "--wait", "1m", "--until", until), "shards=N")
      for until in ("done", "shards=0", "shards=x", "")),
    *(((*INSPECT, "--wait", "1m", "--until", f"past={time}"), "")
      for time in ("", "yesterday", "2026-11-21T00:00:00")),
    (("graph", *ON, "--since", "soon"), "--since: 'soon' is no time"),
    ((*SINK, "--since", "soon"), "--since: 'soon' is no time"),
    ((*SINK, "--until", "-5"), "--until: '5' is no duration"),
    (located("kcl://app?failover=5"), "failover: '5' is no duration"),
    (located("kcl://app?initial=AT_TIMESTAMP:-90m"), "initial: '-90m' is no time"),
    (located("kcl://app?initial=AT_TIMESTAMP:2026-09-22T09:14:00"), "no zone"),
    (located("kinsumer://app?initial=AT_TIMESTAMP:x"), "initial: 'x' is no time"),
    (located("spark:/c?startingPosition=AT_TIMESTAMP:x"), "startingPosition: 'x' is"),
    *((located(f'spark:/c?startingPosition={{"shardId-000000000000":{{"AT_TIMESTAMP":"{time}"}}}}'),
       f"startingPosition as JSON: '{time}' is no time") for time in ("x", "nan", "inf", "1e12",
                                                                      "-1")),
]
LOCATORS = [
    (located("nonsense"), "no locator"), (located("http://table"), "not known"),
    (located("kcl://a b"), "no name of a DynamoDB table"),
    (located("kcl://"), "no name of a DynamoDB table"),
    (located("kcl://app?initial"), "name=value"), (located("kcl://app?initial="), "no value"),
    (located("kcl://app?initial=LATEST&initial=LATEST"), "stands twice"),
    (located("kcl://app?initial=EARLIEST"), "not a start mode"),
    (located("kcl://app?release=newest"), "not a KCL version"),
    (located("kcl://app?release=0.9"), "no such KCL"),
    (located("kcl://app?colour=red"), "no option 'colour'"),
    *((located(locator, option, "eu-west-1"),
       f"{locator} are not on AWS, so {option} leads nowhere", "leave") for locator, option in (
        ("kinesis-consumer+redis://127.0.0.1/0?app=a", "--table-region"),
        ("kinesis-consumer+postgres://a@127.0.0.1/d?app=a", "--table-profile"),
        ("spark:/checkpoints/a", "--table-role-arn"),
        ("quickwit+file:///metastore", "--table-region"),
        ("quickwit+http://127.0.0.1:1", "--table-region"),
    )),
    *(((*verb, "--stream", "orders", *THERE), "no consumer is named, so --table-region leads")
      for verb in (("graph",), ("snapshot", "-o", "a.snapshot"))),
]
VALUES = [
    ((*INSPECT, "--policy", "newest"), "newest"),
    ((*FIX, "--policy", "newest"), "no such policy", "at-timestamp=TIME", "latest-at-start"),
    ((*FIX, "--policy", "latest=-5m"), "no such policy"),
    ((*INSPECT, "--format", "xml"), "xml"), ((*INSPECT, "--fail-on", "nothing"), "nothing"),
    *(((*INSPECT, "--endpoint-url", url), "not SERVICE=URL")
      for url in ("sqs=http://x", "kinesis=ftp://x")),
    ((*INSPECT, "--endpoint-url", "http://me:geheim@x"), "no user or password"),
    ((*INSPECT, "--output", "/no/such/dir/x"), "/no/such/dir/x"),
    ((*INSPECT, "--no-such-flag"), "--no-such-flag"), (("unheard-of",), "unheard-of"),
    ((*FIX, "--set", "1"), "--set 1", "not SHARD=POSITION"),
    ((*FIX, "--set", "1=LATEST", "--set", "1=TRIM_HORIZON"), "shard 1 is given twice"),
    ((*FIX, "--positions", "/nowhere"), "/nowhere: No such file"),
    (("fix", "--plan", "/no/such.plan"), "/no/such.plan"),
    *(((*verb, "/no/such.jsonl"), "/no/such.jsonl") for verb in (("fix", "--resume"), ("undo",))),
    (("undo", "/etc/hostname"), "/etc/hostname is no journal of reshardctl"),
    (("undo", "--show"), "--show needs a journal", "undo --list"),
    (("undo", "--show", "nobody"), "no journal", "nobody"),
    (("undo", "--show", "x", "--format", "sarif"), "shows no journal"),
    (("undo", "--list", "--format", "sarif"), "sarif", "json"),
    *(((*verb, place), "S3") for place in ("s3://", "s3:///x", "s3://UPPER/x", "s3:x", "s3://b/\x07")
      for verb in ((*FIX, "--yes", "--journal"), ("undo",), ("fix", "--resume"))),
    (("rule", "RSH999"), "RSH999"), ((*FIX, "--yes", "--watch", "0s"), "--assume-stopped"),
    *(((verb, *ON, "--probe-budget", "calls=3"), "--probe-budget", "add --probe")
      for verb in ("inspect", "status", "export", "graph", "fix")),
    ((*FIX, "--format", "openmetrics=m"), "no metrics", "reshardctl inspect"),
    *(((verb, *ON, "--format", "openmetrics=m"), "") for verb in ("undo", "audit", "rebuild")),
    (("graph", "--stream", "no stream"), "no stream name"),
    (("graph", "--stream", "s", "--probe"), "--probe", "CONSUMER"),
    (("graph", "nonsense", "--stream", "s"), "nonsense"),
    (("graph", "--stream", "s", "-o", "/nowhere/at/all"), "/nowhere/at/all"),
    (("graph", "--stream", "s", "-o", "/"), "is a directory"),
    *(((verb, *ON, "--format", "json", "--format", "github"), "both write to stdout")
      for verb in ("inspect", "fix")),
    ((*FIX, "--format", "junit=/no/such/x.xml"), "/no/such/x.xml"),
    ((*FIX, "--format", "junit=."), "is a directory"),
    (("graph", "--stream", "s", "--shards", "4,,5"), "--shards", "names no shard"),
    ((*TABLES, "kcl://app"), "release", "release=3.5"),
    ((*TABLES, "kcl://app?release=3.5", "--format", "json"), "--format json", "add --check"),
    ((*TABLES, "snapshot:x.snapshot"), "snapshot", "kcl://TABLE"),
    ((*TABLES, "kcl://app?release=3.5&max=3"), "no option 'max'"),
    ((*TABLES, "spark:/x", "--check", *THERE), "--table-region"),
    (TABLES, "no reshardctl.toml"),
]
MISSING = [
    *((words, "") for words in (
        ("fix",), ("fix", "kcl://app"), ("inspect", "kcl://app"),
        ("explain", "kcl://app"), ("rebuild",), ("rebuild", *ON),
    )),
    *((("rebuild", *ON, "--from", "x", *more), "") for more in (
        ("--column", "nonsense"), ("--master", "local", "--remote", "sc://h"),
    )),
    (("rebuild", "snapshot:f", "--from", "x"), ""),
]
EXCLUSIONS = [
    ((*PLAN, "--dry-run"), "--plan applies a saved plan as it is", "leave --dry-run out"),
    ((*PLAN, "--out", "b"), "--plan applies a saved plan as it is", "leave --out out"),
    ((*PLAN, "--policy", "latest"), "--plan applies", "leave --policy out"),
    *(((*PLAN, option, value), "--plan", option) for option, value in (
        ("--shards", "2"), ("--rule", "RSH203"), ("--not-rule", "RSH203"),
    )),
    ((*RESUME, "--dry-run"), "--resume finishes a fix", "without --yes what is left is shown"),
    ((*RESUME, "--policy", "latest"), "--resume finishes a fix", "leave --policy out"),
    ((*RESUME, "--skipped", "x"), "finishes a fix"),
    (("rebuild", "--plan", "a", "--dry-run"), "--plan applies", "leave --dry-run out"),
    (("undo", "--list", "--yes"), "--list only shows", "leave --yes out"),
    (("undo", "x", "--show", "--dry-run"), "--show only shows", "leave --dry-run out"),
    (("undo", "--show", "x", "--yes"), "--show", "--yes"),
    (("undo", "--show", "--list"), "--show only shows", "leave --list out"),
    (("undo", "--prune", "--show"), "--prune deletes journals", "leave --show out"),
    (("undo", "--prune", "--whole-file"), "--prune deletes", "leave --whole-file out"),
    (("undo", "--older-than", "1d"), "--older-than belongs to --prune", "leave --older-than out"),
    ((*FIX, "--plan", "a"), "a plan and a journal name their consumer", "--plan PLAN"),
    ((*FIX, "--shift", "-2h", "--set", "1=LATEST"), "--shift moves every shard", "--shift"),
    ((*FIX, "--set", "1=LATEST", "--policy", "latest"), "where shards start",
     "--set and --policy exclude each other", "leave --policy out"),
    ((*FIX, "--live", "--assume-stopped"), "--live", "runs, or it does not",
     "leave --assume-stopped"),
    ((*FIX, "--live", "--bootstrap"), "positions of its own", "leave --live out"),
    ((*FIX, "--live", "--recreated", WHEN), "--live", "--recreated"),
    ((*FIX, "--bootstrap", "--recreated", WHEN), "without positions", "leave --bootstrap out"),
    ((*FIX, "--created", WHEN, "--recreated", WHEN),
     "--created and --recreated exclude each other"),
    ((*DRY, "--bootstrap", "--shards", "1"), "--bootstrap", "with every shard",
     "exclude each other", "leave --shards out"),
    ((*DRY, "--recreated", WHEN, "--shards", "2"), "--recreated", "--shards", "exclude each other"),
    ((*FIX, "--rule", "RSH203", "--not-rule", "RSH203"), "RSH203", "from --not-rule"),
    (("fix", "spark:/c", "--stream", "s", "--to", "/d", "--dry-run"), "makes the copy",
     "leave --dry-run out"),
    ((*INSPECT, "--every", "5m", "--wait", "5m"), "--wait waits once", "first with --wait"),
    ((*INSPECT, "--every", "1m", "--watch", "60s"), "no time for --watch"),
    ((*INSPECT, "--every", "5m", "--skipped", "x"), "exclude"),
    ((*FORECAST, "--watch", "60s"), "nobody has made", "once with each", "exclude each other"),
    ((*FORECAST, "--format", "openmetrics"), "what is", "leave --if-reshard out"),
    ((*FORECAST, "--shards", "1"), "no number yet", "leave --shards out"),
    ((*FORECAST, "--count"), "no records", "leave --if-reshard out", "exclude each other"),
    ((*FORECAST, "--skipped", "x"), "exclude"),
    ((*DISCOVER, "kcl://app"), "--discover", "kcl://app"),
    ((*DISCOVER, "--if-reshard", "2"), "--if-reshard"),
    ((*DISCOVER, "--recreated", WHEN), "--recreated"),
    ((*SINK, "--master", "local", "--remote", "sc://h"), "another Spark", "leave --master out"),
    ((*TABLES, "kcl://app?release=3.5", "--check", "--format", "cli"), "--check", "--format"),
    *(((*SEVERAL, *option), option[0], "for one consumer") for option in (
        ("--resume", "a.jsonl"), ("--to", "copy"), ("--recreated", WHEN), ("--created", WHEN),
        ("--plan", "a.plan"), ("--journal", "a.jsonl"), ("--skipped", "x"),
    )),
    ((*SEVERAL, "--format", "sarif"), "--format sarif shows one consumer"),
    (("inspect", *SEVERAL[1:5], "--skipped", "x"), "one consumer"),
]
WRONG = [*TIMES, *LOCATORS, *VALUES, *MISSING, *EXCLUSIONS]


@pytest.mark.usefixtures("in_tmp_path")
@pytest.mark.parametrize(
    ("words", "says"), [(words, says) for words, *says in WRONG],
    ids=["_".join(row[0])[:90] for row in WRONG],
)
def test_a_command_line_that_is_wrong_by_itself(
    lab: Lab, words: tuple[str, ...], says: list[str]
) -> None:
    result = lab.cli(*words)
    assert result.code == 2, result
    assert all(said in result.err for said in says), result.err
    assert result.err and "Traceback" not in result.err and "geheim" not in result.err
    assert not result.out or "--format" in words, "an error document where one was asked for"
    assert lab.wire.calls == [] and lab.slept == []
