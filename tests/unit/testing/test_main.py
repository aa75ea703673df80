"""`python -m reshardctl.testing`: serves a topology until it is told to stop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from reshardctl.testing.__main__ import main
from tests.unit.testing.samples import SPLIT, listed

COMMAND = [sys.executable, "-m", "reshardctl.testing"]


def test_it_serves_a_file_and_ends_on_sigterm(tmp_path: Path) -> None:
    topology = tmp_path / "orders.json"
    topology.write_text(json.dumps(SPLIT))
    root = Path(__file__).parents[3]
    server = subprocess.Popen(
        [*COMMAND, "--topology", str(topology), "--tick"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        client = boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")
        assert list(listed(client)) == [0, 1, 2, 3]
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize("text", [None, "{", "{}", '{"stream": {"name": "x"}}'])
def test_a_topology_that_cannot_be_read(tmp_path, capsys, text):
    topology = tmp_path / "orders.json"
    if text is not None:
        topology.write_text(text)
    assert main(["--topology", str(topology)]) == 2
    assert str(topology) in capsys.readouterr().err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "--topology" in capsys.readouterr().out
