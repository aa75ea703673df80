"""`inspect --every`: round after round, whatever one of them meets, until it is interrupted."""

from __future__ import annotations

import json
import time as clock
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from reshardctl.commands import inspect_again
from reshardctl.commands.inspect import InspectRequest
from reshardctl.errors import ReshardError
from reshardctl.model.times import parse_instant
from tests.cli.lab import TRIM_HORIZON, Lab
from tests.cli.process import start
from tests.cli.test_metrics import FIRST, HOUR, SECOND, read
from tests.cli.test_process import every_signal
from tests.support.case import CASES, load

pytestmark = pytest.mark.lab("healthy-roots", TRIM_HORIZON)


@pytest.fixture
def lab(lab, monkeypatch) -> Lab:
    """Two roots with four records each, the first two of which are processed."""
    time = SimpleNamespace(time=lab.time, sleep=lab.sleep, monotonic=lab.time)
    monkeypatch.setattr(inspect_again, "time", time)
    return lab


def stop_after(lab: Lab, seconds: float) -> None:
    """Ctrl-C once so much time was slept."""

    def interrupt(_seconds: float) -> None:
        if sum(lab.slept) >= seconds:
            raise KeyboardInterrupt

    lab.on_sleep.append(interrupt)


def test_one_line_a_round_and_a_file_that_is_written_anew(lab, tmp_path):
    path = tmp_path / "metrics"
    seen: list[float] = []
    lab.on_sleep.append(
        lambda _: seen.append(read(path)["last_success_timestamp_seconds"][()])
    )
    began = lab.time()
    stop_after(lab, 650)
    ended = lab.inspect("--every", "5m", "--format", f"openmetrics={path}")
    assert ended.code == 130 and ended.err == "cancelled; this command wrote nothing\n"
    lines = ended.out.splitlines()
    assert len(lines) == 3 and all("No findings." in line for line in lines)
    assert sorted({round(time - began) for time in seen}) == [0, 300, 600]
    assert read(path)["up"] == {(): 1}, "Ctrl-C leaves the file of the last round"


def test_a_round_that_fails_is_reported_and_does_not_end_it(lab, tmp_path):
    metrics, report = tmp_path / "metrics", tmp_path / "report"
    ups: list[tuple[float, str]] = []

    def note(_seconds: float) -> None:
        schema = json.loads(report.read_text())["schema"]
        ups.append((read(metrics)["up"][()], schema))

    lab.on_sleep.append(note)
    stop_after(lab, 950)
    lab.wire.fail("Scan", "AccessDeniedException", times=2, after=1)
    ended = lab.inspect(
        "--every", "5m", "--format", f"openmetrics={metrics}", "--format", f"json={report}"
    )
    assert ended.code == 130
    lines = ended.out.splitlines()
    assert ["could not tell" in line for line in lines] == [False, True, True, False]
    assert ended.err.count("error: ") == 2
    good, bad = "reshardctl/report/2", "reshardctl/error/1"
    assert list(dict.fromkeys(ups)) == [(1, good), (0, bad)] and ups[-1] == (1, good)


def test_a_mistyped_name_ends_it_at_once(lab):
    refused = lab.cli("inspect", "kcl://no-such-table", "--stream", "orders", "--every", "5m")
    assert refused.code == 2 and refused.says("no-such-table") and lab.slept == []


def test_a_bad_period_leaves_the_file_alone(lab, tmp_path):
    kept = tmp_path / "last.json"
    kept.write_text("of the last run\n")
    for words in (["--every", "1s"], ["--every", "1m", "--wait", "5m"]):
        refused = lab.inspect(*words, "--format", "json", "-o", kept)
        assert refused.code == 2 and kept.read_text() == "of the last run\n"


def test_a_format_for_stdout_is_written_each_round(lab):
    stop_after(lab, 350)
    ended = lab.inspect("--every", "5m", "--format", "jsonl")
    heads = [line for line in ended.out.splitlines() if '"type":"header"' in line]
    assert ended.code == 130 and len(heads) == 2


def test_from_python(lab):
    rounds = inspect_again.inspect_again(
        InspectRequest([lab.locator], stream="orders"), "5m"
    )
    first, second = next(rounds), next(rounds)
    assert second.at - first.at == pytest.approx(300, abs=1)
    for turn in (first, second):
        assert not isinstance(turn.outcome, ReshardError) and turn.outcome.report.findings == ()
    assert lab.wire.writes == []


def worker(lab: Lab, read_by: dict[str, int]) -> None:
    """A worker that checkpoints record `read_by[lease]` once, soon after the first look."""
    done: list[bool] = []

    def work(_seconds: float) -> None:
        if not done:
            done.append(True)
            for key, index in read_by.items():
                record = lab.fake.stream("orders").shards[int(key[8:])].records[index]
                lab.alter(key, checkpoint={"S": str(record.number)}, leaseOwner={"S": "w1"})

    lab.on_sleep.append(work)


def test_a_consumer_that_falls_behind(lab):
    """Two rounds are 1,200 s apart. Of the first shard the worker read from the record of second
    460 to that of 860; the one of 1,260 is unread, and was so at the first round, at 1,500. It has
    24 h - 1,440 s left at second 2,700, and a third of that time is made good by reading on."""
    began = lab.time()
    worker(lab, {FIRST: 2, SECOND: 3})
    stop_after(lab, 1250)
    text = " ".join(lab.inspect("--every", "20m", "--probe", "--format", "text").out.split())
    assert text.count("behind") == 1 and "hard 0 falls behind: in 20m" in text
    assert "the consumer read 6m40s of 0; at this rate unread records expire at " in text
    told = text.partition("unread records expire at ")[2].split()[0].rstrip(".")
    wanted = began + 1200 + (24 * HOUR - 1440) / (1 - 400 / 1200)
    assert parse_instant(told) == pytest.approx(wanted, abs=10)


def test_the_line_of_a_round_says_it_too(lab):
    worker(lab, {FIRST: 2, SECOND: 3})
    stop_after(lab, 1250)
    first, second = lab.inspect("--every", "20m", "--probe").out.splitlines()
    assert "behind" not in first and "shard 0 falls behind" in second


@pytest.mark.parametrize(("read_by", "probe"), [
    ({FIRST: 2, SECOND: 3}, ()), ({}, ("--probe",)), ({FIRST: 3, SECOND: 3}, ("--probe",)),
], ids=["no record was read", "it does not run", "it keeps up"])
def test_what_does_not_fall_behind(lab, read_by, probe):
    worker(lab, read_by)
    stop_after(lab, 1250)
    ended = lab.inspect("--every", "20m", *probe, "--format", "text")
    assert ended.code == 130 and "behind" not in ended.out


def test_a_watched_consumer_that_falls_behind(lab):
    """Records 20 s apart, an hour old; in a watch of 60 s the worker gets from one to the next."""
    for _ in range(3):
        lab.fake.put("orders", 0, "x")
        lab.fake.clock.advance(20)
    lab.fake.clock.advance(3600)
    records = {key: shard.records for key, shard in lab.fake.stream("orders").shards.items()}
    lab.alter(FIRST, checkpoint={"S": str(records[0][4].number)})
    lab.alter(SECOND, checkpoint={"S": str(records[1][-1].number)})
    began = lab.time()
    worker(lab, {FIRST: 5})
    text = " ".join(lab.inspect("--watch", "60s", "--probe", "--format", "text").out.split())
    assert "hard 0 falls behind: in 1m the consumer read 20s of 0;" in text
    told = text.partition("unread records expire at ")[2].split()[0].rstrip(".")
    left = records[0][6].arrival + 24 * HOUR - (began + 60)
    assert parse_instant(told) == pytest.approx(began + 60 + left / (1 - 20 / 60), abs=600)


def young(lab_of) -> Lab:
    case = load(CASES / "kcl" / "healthy-roots.toml")
    stream = {**case.stream, "created": int(clock.time()) - case.stream["now"]}
    return lab_of(replace(case, stream=stream), TRIM_HORIZON)


@every_signal
def test_stopped_between_two_rounds(lab_of, tmp_path, number):
    """As a service stops it: 130, with the file of the last round."""
    lab, path = young(lab_of), tmp_path / "metrics"
    running = start(lab, "inspect", *lab.where, "--every", "1h", "--format", f"openmetrics={path}")
    _await(path)
    running.signal(number)
    ended = running.end()
    assert ended.code == 130, ended.err
    assert len(ended.out.splitlines()) == 1 and read(path)["up"] == {(): 1}


def _await(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            clock.sleep(0.5)
            return
        clock.sleep(0.1)
    raise TimeoutError(f"{path} was never written")
