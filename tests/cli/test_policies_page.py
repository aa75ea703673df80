"""What docs/policies.md shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.lab import LATEST

PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")
PAGE = PAGE.partition("\n## Positions as data")[0]
SHOWN = dict(re.findall(r"```console\n\$ ([^\n]*)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL))


def shown(marker: str) -> tuple[list[str], list[str]]:
    """The options of the one command with this marker, and the lines that follow it."""
    ((command, text),) = [pair for pair in SHOWN.items() if marker in pair[0]]
    argv = shlex.split(command)
    return argv[argv.index("orders") + 1 :] if "orders" in argv else [], text.splitlines()


def changes(lines: list[str]) -> list[str]:
    """The table by shard, and its costs."""
    return [line.rstrip() for line in lines if re.match(r"[~+] |           \d", line)]


def test_every_transcript_has_its_command():
    assert len(SHOWN) == 4 and PAGE.count("```console") == len(SHOWN)


def test_plans(lab_of, tmp_path):
    """The page's stream is the case that its transcripts were made with."""
    lab = lab_of("k", LATEST)
    for marker in ("--policy latest --count", "at-timestamp=2026-11-21T00:18:00Z"):
        argv, lines = shown(marker)
        argv = [str(tmp_path / word) if word.endswith(".plan") else word for word in argv]
        said = lab.dry(*argv, "--format", "text").out.splitlines()
        assert changes(lines) and set(changes(lines)) <= set(changes(said)), said
    done = lab.cli(
        "fix", "--plan", tmp_path / "p.plan", "--yes", "--accept", "skip=30m", "--assume-stopped",
        "--format", "text",
    )
    _, lines = shown("fix --plan p.plan")
    assert done.code == 0 and set(map(str.rstrip, lines)) <= set(done.out.splitlines())


def test_a_mark_grows_until_the_start(lab_of):
    """Its width depends on the clock; the rest is as shown."""
    argv, lines = shown("latest-at-start --count")
    said = lab_of("k", LATEST).dry(*argv, "--format", "text").out

    def timeless(line: str) -> list[str]:
        return re.sub(r"at least [0-9dhms]+", "at least", line).split()

    printed = [timeless(line) for line in said.splitlines()]
    assert all(timeless(line) in printed for line in changes(lines))
