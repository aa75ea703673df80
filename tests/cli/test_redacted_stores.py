"""Snapshots for bug reports of stores that are no lease tables: judged alike, naming nobody."""

from __future__ import annotations

import pytest

from reshardctl.model import Image, canonical
from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import Lab, fake_of
from tests.cli.quickwit_lab import quickwit_lab
from tests.support.case import CASES, load
from tests.support.dialects import kinsumer as dialect


def heads(document: dict) -> list:
    return [(f["code"], f["severity"], f["shards"]) for f in document["findings"]]


def alike(lab: Lab, to, secrets: list[str]) -> None:
    """A redacted snapshot gives the same findings, and holds none of these words."""
    file = to / "taken.snapshot"
    done = lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", file, "--redact")
    assert done.code == 0, done.err
    now = lab.inspect("--format", "json")
    then = lab.cli("inspect", f"snapshot:{file}", "--format", "json")
    assert then.code == now.code, then.err
    assert heads(then.json) == heads(now.json)
    text = file.read_text()
    assert [word for word in secrets if word in text] == []


@pytest.mark.parametrize("name", ["a", "b5", "f", "g", "killed"])
def test_kinsumer(base_of, entered, tmp_path, name):
    case = load(CASES / "kinsumer" / f"{name}.toml")
    lab = base_of(fake_of(case))
    lab.options = "?initial=TRIM_HORIZON&release=snowplow-1.7"
    lab = entered.enter_context(kinsumer_lab(lab, dialect.images(case), app="secretapp"))
    lab.plant_images([Image("clients/host-7.secret", canonical({
        "ID": {"S": "host-7.secret"}, "LastUpdate": {"N": "7"},
        "Name": {"S": "ip-10-0-0-7"},
    }))])  # fmt: skip
    alike(lab, tmp_path, ["secretapp", "host-7", "ip-10", "orders"])


@pytest.mark.parametrize(("release", "state"), [("0.9.0", "q3"), ("0.9.0", "q2"), ("0.8.2", "q4")])
def test_quickwit(servers, tmp_path, monkeypatch, wire, release, state):
    folder, named = tmp_path / "of-secret", "&index=events&source=kinesis-events"
    with quickwit_lab(release, state, servers, folder, monkeypatch, wire, named) as lab:
        alike(lab, tmp_path, ["of-secret", "events", str(lab.root)])
