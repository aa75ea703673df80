"""The man page: `man` formats it without a warning."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from reshardctl.cli.help import long_name
from scripts.pages import man
from scripts.pages.commands import commands


@pytest.fixture(scope="module")
def shown():
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", "-rHY=0", str(man.PAGE)],
        capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


def test_every_command_and_option_is_shown(shown):
    for name, command in commands():
        assert f"reshardctl {name} " in shown
        section = shown.partition(f"   reshardctl {name} ")[2].partition("\n   reshardctl ")[0]
        context = command.make_context(name, [], resilient_parsing=True)
        for option in command.get_params(context):
            if option.param_type_name == "option" and not option.hidden:
                assert long_name(option) in section, name


def test_every_exit_code_is_shown(shown):
    from reshardctl.exit import Exit

    status = shown.partition("EXIT STATUS")[2].partition("NOTES")[0].splitlines()
    codes = {int(line.split()[0]) for line in status if line.strip() and line.split()[0].isdigit()}
    assert codes == {int(code) for code in Exit}


def test_a_line_that_begins_like_a_request_of_roff_is_text():
    assert man._text(".x\n-y 'z'") == "\\&.x \\-y 'z'"
    assert man._text("'a\\b") == "\\&'a\\eb"
    assert man._text("s3://…") == "s3://\\[u2026]"
