"""`inspect --baseline`: the job fails over news only."""

from __future__ import annotations

import json

import pytest

from reshardctl.model.times import instant
from tests.cli.lab import LATEST, Lab
from tests.support.case import CASES, load

pytestmark = pytest.mark.lab("b", LATEST)



@pytest.fixture
def baseline(lab, tmp_path):
    file = tmp_path / "base.json"
    assert lab.cli("inspect", *lab.where, "--format", "json", "-o", file).code == 1
    return file


def test_what_was_known_does_not_count(lab, baseline):
    result = lab.cli("inspect", *lab.where, "--baseline", baseline, "--format", "text")
    assert result.code == 0, result.err
    assert "2 of the baseline" in result.out and "RSH208" in result.out
    assert "suppressed" not in result.out
    assert str(baseline) in "".join(result.out.split())  # a long path is broken at the margin
    assert lab.wire.writes == []


def test_news_counts(lab, baseline):
    body = json.loads(baseline.read_text())
    body["findings"] = [f for f in body["findings"] if f["code"] != "RSH208"]
    baseline.write_text(json.dumps(body))
    result = lab.cli("inspect", *lab.where, "--baseline", baseline, "--format", "json")
    assert result.code == 1
    (entry,) = result.json["consumers"]
    assert [f["code"] for f in entry["report"]["findings"]] == ["RSH208"]
    assert [one["finding"]["code"] for one in entry["suppressed"]] == ["RSH202"]
    assert entry["suppressed"][0]["by"]["until"] is None


def test_a_baseline_of_a_baseline(lab, baseline, tmp_path):
    """What an older baseline knew, a newer one made under it knows."""
    again = tmp_path / "again.json"
    done = lab.cli("inspect", *lab.where, "--baseline", baseline, "--format", "json", "-o", again)
    assert done.code == 0
    result = lab.cli("inspect", *lab.where, "--baseline", again)
    assert result.code == 0, result.out


@pytest.mark.parametrize(("text", "says"), [(None, "No such file"), ("{}", "not a report")])
def test_a_file_that_is_none(lab, tmp_path, text, says):
    file = tmp_path / "x.json"
    if text is not None:
        file.write_text(text)
    result = lab.cli("inspect", *lab.where, "--baseline", file)
    make = "reshardctl inspect CONSUMER --stream STREAM --format json"
    assert result.code == 2 and result.says(str(file), says, make)
    assert lab.wire.calls == []


@pytest.mark.parametrize("taken", ["x", "2026-11-21T00:00:00", "9" * 5000])
def test_a_time_that_was_edited(lab, baseline, taken):
    body = json.loads(baseline.read_text())
    baseline.write_text(json.dumps({**body, "taken": taken}))
    lab.wire.calls.clear()
    result = lab.cli("inspect", *lab.where, "--baseline", baseline)
    assert result.code == 2 and result.says(str(baseline), "taken")
    assert lab.wire.calls == []


@pytest.mark.parametrize("kind", ["report", "snapshot"])
def test_a_file_of_another_table_or_stream_is_said_to_be(lab, baseline, tmp_path, kind):
    """Else a job would count yesterday's findings as news, and nobody would know why."""
    if kind == "snapshot":
        baseline = tmp_path / "orders.snapshot"
        assert lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", baseline).code == 0
        body = json.loads(baseline.read_text())
        (one,) = body["consumers"]
        assert lab.cli("inspect", *lab.where, "--baseline", baseline).err == ""
    else:
        one = body = json.loads(baseline.read_text())
    one["store"] = {name: value.replace("leases", "older") for name, value in one["store"].items()}
    assert "older" in str(one["store"])
    other = tmp_path / "other.json"
    other.write_text(json.dumps(body))
    result = lab.cli("inspect", *lab.where, "--baseline", other)
    assert result.code == 1
    assert result.err.startswith(f"warning: {other} shows none of")
    assert all(word in result.err for word in ("stream/orders", *one["store"].values()))


# What an earlier look tells of a parent whose lease is gone: KCL deletes finished leases, and
# starts children beside a missing one (BlockOnParentShardTask, LeaseCleanupManager 3.5.1).
CASE = load(CASES / "kcl" / "healthy-split-cleaned.toml")
NOW = CASE.stream["created"] + CASE.stream["now"]
PARENT, LEFT, RIGHT = (f"shardId-00000000000{n}" for n in (0, 2, 3))
OTHER = {"shardId-000000000001": "TRIM_HORIZON"}
LOOKS = {
    # the positions then, how long ago; the finding's severity, words of it
    "finished": ({PARENT: "SHARD_END"}, 60, None, ()),
    "finished, children too": ({PARENT: "SHARD_END", LEFT: "TRIM_HORIZON"}, 60, None, ()),
    "marked while it was open": ({PARENT: "SHARD_END"}, 1000, "info", ("cannot tell",)),
    "half-way": ({PARENT: "<s0-1>"}, 1000, "info", ("it stood at <s0-1>", "came after that")),
    "inside a record": ({PARENT: "<s0-1>/7"}, 1000, "info", ("it stood at <s0-1>/7",)),
    "at its end by number": ({PARENT: "END"}, 60, None, ()),
    "at its beginning": ({PARENT: "TRIM_HORIZON"}, 1000, "info", ("it stood at TRIM_HORIZON",)),
    "at LATEST": ({PARENT: "LATEST"}, 1000, "info", ("cannot tell",)),
    "missing, children not made": ({}, 60, "warning", ("probably never read",)),
    "missing, children not begun": (
        {LEFT: "TRIM_HORIZON", RIGHT: "TRIM_HORIZON"}, 60, "warning", ("probably never read",)
    ),
    "missing, a child begun": ({LEFT: "<s2-0>"}, 60, "info", ("cannot tell",)),
    "missing, a child by choice": ({LEFT: "LATEST"}, 60, "info", ("cannot tell",)),
    "missing while it was open": ({}, 1000, "info", ("cannot tell",)),
}


@pytest.fixture
def cleaned(lab_of) -> Lab:
    return lab_of(CASE, LATEST)


def _found(lab: Lab, file) -> list[dict]:
    result = lab.cli("inspect", *lab.where, "--baseline", file, "--format", "json")
    (entry,) = result.json["consumers"]
    return [f for f in entry["report"]["findings"] if f["code"] == "RSH205"]


def _row(body: dict, shard: str, raw: str) -> dict:
    """A row of the file's own shape, at another position."""
    attributes = {**body["consumers"][0]["rows"][0]["attributes"], "leaseKey": {"S": shard}}
    number, _, sub = raw.partition("/")
    attributes |= {"checkpoint": {"S": number}, "checkpointSubSequenceNumber": {"N": sub or "0"}}
    return {"key": shard, "attributes": attributes}


def _spelled(raw: str) -> str:
    if raw == "END":
        return str(CASE.topology[0].end)
    return raw.replace("<s0-1>", CASE.number_of("s0-1")).replace("<s2-0>", CASE.number_of("s2-0"))


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("kind", ["report", "snapshot"])
def test_an_earlier_look_tells_what_became_of_a_lost_parent(cleaned, tmp_path, name, kind):
    then, ago, severity, argv = LOOKS[name]
    positions = {s: _spelled(raw) for s, raw in {**OTHER, **then}.items()}
    file = tmp_path / "earlier"
    if kind == "report":
        cleaned.cli("inspect", *cleaned.where, "--format", "json", "-o", file)
        body = json.loads(file.read_text())
        body["findings"], body["positions"] = [], positions
        body["taken"] = instant(NOW - ago)
    else:
        taken = cleaned.cli("snapshot", cleaned.locator, "--stream", cleaned.stream, "-o", file)
        assert taken.code == 0, taken.err
        body = json.loads(file.read_text())
        rows = [_row(body, shard, raw) for shard, raw in positions.items()]
        body["consumers"][0] |= {"rows": rows, "taken": float(NOW - ago)}
    file.write_text(json.dumps(body))
    found = _found(cleaned, file)
    if severity is None:
        assert found == []
        return
    (one,) = found
    assert (one["severity"], one["shards"]) == (severity, [PARENT])
    for word in argv:
        assert _spelled(word) in one["what"], one["what"]


def test_a_look_at_another_table_tells_nothing(cleaned, tmp_path):
    file = tmp_path / "earlier"
    cleaned.cli("inspect", *cleaned.where, "--format", "json", "-o", file)
    body = json.loads(file.read_text())
    body["findings"], body["positions"] = [], {PARENT: "SHARD_END"}
    body["store"]["arn"] += "-other"
    file.write_text(json.dumps(body))
    (one,) = _found(cleaned, file)
    assert one["severity"] == "info"
