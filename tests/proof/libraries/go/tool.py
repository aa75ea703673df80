"""The real command as a process of its own: what `fix --yes` and `undo --yes` do to a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Semaphore

import boto3

from reshardctl.model.times import instant
from tests.support.made_up_aws import MADE_UP, environment_without

LIMIT = 180.0
"""Seconds after which a command is taken to hang."""
_turns = Semaphore(2)

WRITTEN = (0, 1)  # 1: and something remains to be told
ASKS = 4
WHOSE = "add --created"
"""A store without a number does not say which stream it is of; the operator does, from AWS."""


class Tool:
    """Commands on one stream; `folder` holds what it keeps."""

    def __init__(self, folder: Path, surroundings: Mapping[str, str]) -> None:
        self.folder = self._folder = folder
        kept = environment_without("AWS_", "PYTHON")
        self._environment = {
            **kept,
            **MADE_UP,
            "NO_PROXY": "127.0.0.1",
            "RESHARDCTL_STATE_DIR": str(folder),
            "HOME": str(folder),
            **surroundings,
        }

    def fix(self, locator: str, stream: str, *words: str) -> str:
        """What it said. AssertionError unless everything that it planned was written."""
        journal = self._folder / "journal"
        whole = ["fix", locator, "--stream", stream, "--journal", str(journal), *words]
        code, said = self._run(*whole)
        if code == ASKS and WHOSE in said:
            code, said = self._run(*whole, "--created", self._created(stream))
        assert code in WRITTEN, f"{code}: {said}"
        assert journal.exists(), f"nothing was written: {said}"
        return said

    def _created(self, stream: str) -> str:
        kinesis = boto3.client(
            "kinesis", endpoint_url=self._environment["AWS_ENDPOINT_URL_KINESIS"],
            region_name=MADE_UP["AWS_DEFAULT_REGION"],
            aws_access_key_id=MADE_UP["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=MADE_UP["AWS_SECRET_ACCESS_KEY"],
        )
        told = kinesis.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]
        return instant(told["StreamCreationTimestamp"].timestamp())

    def undo(self) -> str:
        """Takes the fix back."""
        code, said = self._run("undo", str(self._folder / "journal"))
        assert code in WRITTEN, f"{code}: {said}"
        return said

    def _run(self, *words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "reshardctl", *words, "--yes", "--assume-stopped"]
        with _turns:
            done = subprocess.run(
                command, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False,
            )
        return done.returncode, done.stdout
