"""`watch`, `fail-on` and `probe` of a consumer in reshardctl.toml; options take precedence."""

from __future__ import annotations

import pytest

from tests.cli.test_configured import configure

pytestmark = pytest.mark.usefixtures("in_tmp_path")


def probed(lab) -> bool:
    """Whether a record was read since the last time."""
    seen = any(operation == "GetRecords" for _, operation in lab.wire.calls)
    lab.wire.calls.clear()
    return seen


@pytest.mark.parametrize("verb", ["inspect", "status"])
def test_findings_fail_as_the_file_says(lab, verb):
    configure(lab)
    assert lab.cli(verb, "app").code == 1
    configure(lab, consumer='fail-on = "never"')
    assert lab.cli(verb, "app").code == 0
    assert lab.cli(verb, "app", "--fail-on", "error").code == 1, "the option takes precedence"


def test_each_consumer_fails_by_its_own(lab):
    gone = '[consumers.gone]\nstream = "all-orders"\nlocator = "kcl://no-such-table"'
    configure(lab, gone, 'fail-on = "never"', consumer='fail-on = "never"', name="quiet")
    assert lab.cli("inspect", "quiet").code == 0
    assert lab.cli("inspect").code == 2, "what could not be judged fails all the same"


def test_defaults_hold_for_all_that_say_nothing(lab):
    configure(lab, '[defaults]\nfail-on = "never"')
    assert lab.cli("inspect").code == 0
    configure(lab, '[defaults]\nfail-on = "never"', consumer='fail-on = "warning"')
    assert lab.cli("inspect").code == 1


def test_records_are_read_where_the_file_says_so(lab_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lab = lab_of("healthy-latest-resharded", "?initial=LATEST&release=3.5.1")
    lab.alter("shardId-000000000001", checkpoint={"S": "TRIM_HORIZON"})
    configure(lab)
    words = ("status", "app", "--sort", "records")
    assert lab.cli(*words).code == 2, "nothing to sort by"
    configure(lab, consumer="probe = true")
    monkeypatch.setattr(type(lab), "configured_probe", True)
    lab.wire.calls.clear()
    assert lab.cli(*words).code in (0, 1) and probed(lab)
    assert lab.cli(*words, "--no-probe").code == 2 and not probed(lab)


def test_the_watch_before_a_write_is_as_long_as_the_file_says(lab):
    configure(lab, consumer='watch = "90s"')
    lab.slept.clear()
    assert lab.cli("fix", "app", "--yes").code == 0
    assert sum(lab.slept) == 90
    lab.slept.clear()
    assert lab.cli("undo", lab.journal(), "--yes").code == 0
    assert sum(lab.slept) == 90, "the journal is of this table and stream"
    lab.slept.clear()
    assert lab.cli("fix", "app", "--yes", "--watch", "45s").code == 0
    assert sum(lab.slept) == 45


def test_a_saved_plan_is_watched_for_as_long(lab):
    configure(lab, consumer='watch = "90s"')
    assert lab.cli("fix", "app", "--dry-run", "--out", "app.plan").code == 1
    lab.slept.clear()
    assert lab.cli("fix", "--plan", "app.plan", "--yes").code == 0
    assert sum(lab.slept) == 90


@pytest.mark.parametrize(("line", "said"), [
    ('watch = "1s"', ["consumers.app.watch", "1s is too short", "30s or more"]),
    ('watch = "soon"', ["consumers.app.watch", "'soon' is no duration"]),
    ("watch = 30", ["consumers.app.watch", "not a string"]),
    ('fail-on = "fatal"', ["consumers.app.fail-on", "'fatal' is none of them", "error, warning"]),
    ('fail-on = "warn"', ["did you mean warning?"]),
    ('fail_on = "error"', ["consumers.app.fail_on", "unknown key", "did you mean fail-on?"]),
    ('probe = "yes"', ["consumers.app.probe", "neither true nor false"]),
])  # fmt: skip
def test_bad_values_are_named_with_their_line(lab, line, said):
    configure(lab, consumer=line)
    checked = lab.cli("config", "check")
    assert checked.code == 2 and checked.says("reshardctl.toml:7", *said)


def test_config_show_has_them_with_their_source(lab):
    configure(lab, '[defaults]\nprobe = true', consumer='watch = "90s"\nfail-on = "warning"')
    lines = lab.cli("config", "show").out.splitlines()
    values = {line.partition(" = ")[0]: line for line in lines}
    assert '"90s"' in values["watch"] and "reshardctl.toml:7" in values["watch"]
    assert '"warning"' in values["fail-on"] and "reshardctl.toml:8" in values["fail-on"]
    assert values["probe"].startswith("probe = true") and "reshardctl.toml:10" in values["probe"]
