"""What the demo's commands and a shell are told about AWS."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from reshardctl.demo.servers import Endpoints, child_environment, exports

ENDPOINTS = Endpoints("http://127.0.0.1:4567", "http://127.0.0.1:8000")
OPERATOR = {
    "PATH": "/usr/bin:/bin",
    "AWS_PROFILE": "production",
    "AWS_ACCESS_KEY_ID": "real",
    "AWS_SECRET_ACCESS_KEY": "real",
    "AWS_SESSION_TOKEN": "real",
    "AWS_ENDPOINT_URL": "https://vpce.example.com",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
    "HTTP_PROXY": "http://proxy.example.com:3128",
}


def test_nothing_of_the_operators_aws_settings_reaches_a_command() -> None:
    before = dict(OPERATOR)
    child = child_environment(OPERATOR, ENDPOINTS)
    assert before == OPERATOR
    assert "real" not in child.values()
    assert "production" not in child.values()
    assert "AWS_ENDPOINT_URL" not in child
    assert "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS" not in child
    assert child["AWS_ENDPOINT_URL_KINESIS"] == ENDPOINTS.kinesis
    assert child["AWS_ENDPOINT_URL_DYNAMODB"] == ENDPOINTS.dynamodb
    assert child["PATH"] == OPERATOR["PATH"]


def test_a_proxy_is_not_asked_for_the_loopback() -> None:
    child = child_environment(OPERATOR, ENDPOINTS)
    assert child["HTTP_PROXY"] == OPERATOR["HTTP_PROXY"]
    assert child["NO_PROXY"] == child["no_proxy"] == "127.0.0.1"


@pytest.mark.parametrize(
    "surroundings", [OPERATOR, {"PATH": OPERATOR["PATH"]}], ids=["aws", "bare"]
)
@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh"])
def test_the_exports_make_any_terminal_see_the_same(
    shell: str, surroundings: dict[str, str]
) -> None:
    """Whatever it has of AWS, which the one that serves the demo does not know."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    script = "\n".join(exports(ENDPOINTS)) + "\nexec /usr/bin/env -0"
    run = subprocess.run(
        [program, "-c", script], env=surroundings, capture_output=True, text=True, check=True
    )
    assert run.stderr == ""
    seen = dict(entry.split("=", 1) for entry in run.stdout.split("\0") if entry)
    for name in ("PWD", "SHLVL", "_", "OLDPWD", "HOME", "LOGNAME"):  # a shell's own
        seen.pop(name, None)
    assert seen == child_environment(surroundings, ENDPOINTS)


def test_the_exports_are_one_setting_a_line() -> None:
    first, *rest = exports(ENDPOINTS)
    assert first.startswith("for ") and "unset" in first
    assert all(line.startswith("export ") for line in rest)
