"""Damaged files of our own: journals, plans, snapshots, positions, baselines, reshardctl.toml.

A damaged file is refused by name, or is read as what it still says; nothing is written by it that a
whole one would not write, and it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import pytest

from tests.cli.damaged.endings import ended_badly
from tests.cli.damaged.file_damages import folder_instead, link_to_itself
from tests.cli.damaged.seeds import seeded
from tests.cli.damaged.text_damages import damaged_text
from tests.cli.lab import Lab

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("in_tmp_path")]

GOLDEN = Path(__file__).parents[2] / "golden" / "files-0.2"
CONSUMERS = ("kcl", "kinsumer", "kinesis-consumer", "quickwit", "spark")
AGREED = ("--yes", "--quiet")
"""None of the files was made here: what they would write is shown, but for `--quiet`."""
READING = {
    "stream.snapshot": (
        ("inspect", "snapshot:{file}"), ("status", "snapshot:{file}"),
        ("export", "snapshot:{file}"), ("explain", "snapshot:{file}", "0"),
        ("fix", "snapshot:{file}", "--dry-run"),
        ("graph", "snapshot:{file}", "--format", "text"),
    ),
    "fix.journal": (
        ("undo", "--show", "{file}"), ("undo", "{file}", "--dry-run", *AGREED),
        ("undo", "--list", "{folder}"), ("fix", "--resume", "{file}", "--assume-stopped", *AGREED),
    ),
    "undone.journal": (("undo", "--show", "{file}"), ("undo", "{file}", "--dry-run", *AGREED)),
    "fix.plan": (("fix", "--plan", "{file}", "--assume-stopped", *AGREED),),
    "positions.json": (("fix", "{lab}", "--stream", "orders", "--positions", "{file}", "-n"),),
}  # fmt: skip
"""Commands that read the file and, its store being gone, write nothing."""
STATES = [(kind, consumer) for kind in READING for consumer in CONSUMERS]
GONE = ("there is no table", "there is no directory", "there is no stream", "no such table")
"""The stores of the golden files are on no server here: what a readable file leads to."""
OF_A_ROW = ("row ", "index=", "no source here reads")
"""What is wrong with a row in a readable snapshot, told as of the store itself."""


def spoiled(dice: Random, path: Path, content: bytes) -> str:
    """Writes the file damaged; says how."""
    path.write_bytes(content)
    if dice.random() < 0.05:
        return dice.choice((folder_instead, link_to_itself))(dice, path.parent, path)
    how, changed = damaged_text(dice, content)
    path.write_bytes(changed)
    return how


def held(
    lab: Lab, words: tuple[str, ...], path: Path, what: str, named: tuple[str, ...] = ()
) -> int:
    """Runs a command on the file; returns its exit code."""
    said = [
        word.format(file=path, folder=path.parent, lab=lab.locator) for word in words
    ]
    before = lab.items()
    ended = lab.cli(*said)
    why = ended_badly(ended, (str(path), path.name, *named))
    if why == "no error line" and f"{path}:" in ended.out and "cannot be judged" in ended.out:
        why = ""  # one of several consumers, told in its place among them
    assert not why, f"{what}: {words}: {why}: {ended.err[:500]}"
    assert lab.items() == before, f"{what}: {words} wrote"
    return ended.code


@pytest.mark.parametrize(("state", "seeds"), seeded(STATES))
def test_a_damaged_file_of_an_older_release(lab, tmp_path, state, seeds):
    kind, consumer = state
    content = (GOLDEN / consumer / kind).read_bytes()
    for seed in seeds:
        path = tmp_path / str(seed) / kind.replace(".journal", ".jsonl")
        path.parent.mkdir()
        how = spoiled(Random(f"own {state} {seed}"), path, content)
        for words in READING[kind]:
            held(lab, words, path, f"seed {seed}: {how}", (*GONE, *OF_A_ROW))


def report_of(lab: Lab, path: Path) -> None:
    assert lab.cli("inspect", *lab.where, "--format", "json", "-o", path).code == 1


def positions_of(lab: Lab, path: Path) -> None:
    assert lab.cli("export", *lab.where, "--format", path.suffix[1:], "-o", path).code == 0


def plan_of(lab: Lab, path: Path) -> None:
    assert lab.dry("--out", path).code == 1


def settings_of(lab: Lab, path: Path) -> None:
    path.write_text("\n".join([
        "[defaults]", 'region = "us-east-1"', 'watch = "30s"', 'fail-on = "error"', "probe = false",
        "[streams.orders]", 'stream = "orders"', "created = 2026-11-21T00:00:00Z",
        "[consumers.app]", 'stream = "orders"', f'locator = "{lab.locator}"', 'policy = "lossless"',
        'accept = "reread=1h"', 'journal = "journals/"', "[[suppress]]", 'rule = "RSH203"',
        'why = "known"', "until = 2026-12-24", 'consumer = "app"', "shards = [2, 3]", "",
    ]), encoding="utf-8")  # fmt: skip
    sound = lab.cli("inspect", "app", "--config", path)
    assert sound.code in (0, 1), sound.err


Makes = Callable[[Lab, Path], None]
FRESH: Mapping[str, tuple[Makes, tuple[tuple[str, ...], ...]]] = {
    "report.json": (
        report_of, (("inspect", "{lab}", "--stream", "orders", "--baseline", "{file}"),)
    ),
    "positions.json": (
        positions_of, (("fix", "{lab}", "--stream", "orders", "--positions", "{file}", "-n"),)
    ),
    "positions.csv": (
        positions_of, (("fix", "{lab}", "--stream", "orders", "--positions", "{file}", "-n"),)
    ),
    "new.toml": (settings_of, (
        ("inspect", "app", "--config", "{file}"), ("fix", "app", "-n", "--config", "{file}"),
        ("config", "check", "--config", "{file}"), ("status", "app", "--config", "{file}"),
    )),
}  # fmt: skip

TOML_VALUES = (
    "1", "-1", "true", '""', '"x"', "[]", "{}", "nan", "inf", "1e999", "0x7f", "1979-05-27",
    "2026-11-21T00:00:00", "07:32:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59",
    "'''a\nb'''",
    '"\\u0000"', '"' + "x" * 5000 + '"', "[[[[]]]]", "[1, 'a']", "99999999999999999999",
)  # fmt: skip


def other_setting(dice: Random, content: bytes) -> tuple[str, bytes]:
    """One value of a TOML document is another."""
    found = list(re.finditer(r"= (.*)$", content.decode(), re.MULTILINE))
    match, value = dice.choice(found), dice.choice(TOML_VALUES)
    text = content.decode()
    return f"{match[0]} is {value}", (text[: match.start(1)] + value + text[match.end(1):]).encode()


@pytest.mark.parametrize(("state", "seeds"), seeded([(kind,) for kind in FRESH]))
def test_a_damaged_file_of_today(lab, tmp_path, monkeypatch, state, seeds):
    monkeypatch.setattr(Lab, "configured_probe", True)  # a damage may write `probe = true`
    (kind,) = state
    make, commands = FRESH[kind]
    made = tmp_path / kind
    make(lab, made)
    content = made.read_bytes()
    for seed in range(seeds.start * 3, seeds.stop * 3):
        dice = Random(f"today {kind} {seed}")
        path = tmp_path / str(seed) / kind
        path.parent.mkdir()
        if kind.endswith("toml") and dice.random() < 0.6:
            how, changed = other_setting(dice, content)
            path.write_bytes(changed)
        else:
            how = spoiled(dice, path, content)
        for words in commands:
            held(lab, words, path, f"seed {seed}: {how}", ("another store", "orders", "app"))


@pytest.mark.parametrize("seeds", [
    range(10), pytest.param(range(10, 200), marks=pytest.mark.long),
], ids=["few", "many"])  # fmt: skip
def test_a_damaged_plan_writes_what_the_whole_one_would(lab, tmp_path, seeds):
    """It is refused, or was damaged where it does not matter."""
    path = tmp_path / "a.plan"
    plan_of(lab, path)
    content = path.read_bytes()
    before = lab.items()
    assert lab.apply(path).code == 0
    after = lab.items()
    assert lab.undo().code == 0
    for seed in seeds:
        how = spoiled(Random(f"plan {seed}"), tmp_path / f"{seed}.plan", content)
        shown = lab.cli("fix", "--plan", tmp_path / f"{seed}.plan", "--yes", "--assume-stopped")
        why = ended_badly(shown, (f"{seed}.plan",))
        assert not why, f"seed {seed}: {how}: {why}: {shown.err[:400]}"
        assert lab.items().keys() in (before.keys(), after.keys())
        if shown.code == 0:
            assert without_counters(lab.items()) == without_counters(after), how
            lab.cli("undo", lab.journals()[-1], "--yes", "--assume-stopped")
        assert without_counters(lab.items()) == without_counters(before), how


def without_counters(items):
    return {k: {n: v for n, v in i.items() if n != "leaseCounter"} for k, i in items.items()}
