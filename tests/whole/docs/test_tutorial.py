"""docs/tutorial.md: every command is run, in order, on the demo's stream and lease table."""

from __future__ import annotations

import io
import re
import shlex
import time
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest

from reshardctl.cli.app import run
from reshardctl.commands import connect
from reshardctl.demo import servers
from tests.whole.demo.surroundings import surround
from tests.whole.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "tutorial.md"
BLOCKS = list(blocks(PAGE))
SET_UP = {"pip install '.[demo]'", "reshardctl demo --serve", 'eval "$(reshardctl demo --env)"'}
"""What the test's fixture does in its own way."""
SAYS = {
    "discover": ("kcl://orders-reader", "strong"),
    "graph": ("SHARD_END", "no position"),
    "rule": ("RSH203 child-not-started", "SHARD_END"),
    "fix": ("TRIM_HORIZON",),
}
"""What the page says of the output of a command."""


def typed() -> list[tuple[str, int]]:
    """The commands of the page and the exit codes that it names; 0 where it names none."""
    shell = [block for block in BLOCKS if block.language == "console"]
    lines = [command for block in shell for command in block.commands]
    pairs = [line.partition("#")[::2] for line in lines]
    return [
        (command.strip(), int(re.sub(r"\D", "", comment) or 0))
        for command, comment in pairs if command.strip() not in SET_UP
    ]


@pytest.fixture(scope="module", params=[
    pytest.param(0, marks=pytest.mark.long, id="at once"), pytest.param(90 * 60, id="slowly"),
])  # fmt: skip
def answers(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> list[tuple[str, int, str]]:
    """Each command with its exit code and its output; its reader waits so long before each."""
    folder = tmp_path_factory.mktemp("tutorial")
    clock = (fake := servers.stream_as_of(time.time())).clock
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers, "stream_as_of", lambda *_: fake)
        patch.setattr(connect, "time", SimpleNamespace(
            time=clock.now, monotonic=clock.now, sleep=clock.advance
        ))  # fmt: skip
        with servers.seeded(time.time()) as endpoints:
            surround(patch, endpoints, folder)
            results = []
            for command, _ in typed():
                clock.advance(request.param)
                out = io.StringIO()
                with redirect_stdout(out), redirect_stderr(out):
                    code = run(shlex.split(command)[1:])
                results.append((command, int(code), out.getvalue()))
            return results


def test_every_command_ends_as_the_page_says(answers):
    assert [(command, code) for command, code, _ in answers] == typed()
    assert len(typed()) == 12


def test_the_output_is_what_the_page_says(answers):
    for command, _, out in answers:
        for words in SAYS.get(command.split()[1], ()):
            assert words in out, (command, out)
    inspections = [out for command, _, out in answers if " inspect " in command]
    assert ["RSH203" in out for out in inspections] == [True, False, True, True]
