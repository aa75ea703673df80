"""The command itself, as an operator runs it, on a checkpoint or a lease table."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.made_up_aws import MADE_UP, environment_without

LIMIT_SECONDS = 120.0
"""Seconds after which a command is taken to hang."""
OK, FINDINGS = 0, 1


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended, and its document."""

    code: int
    document: dict[str, Any]
    errors: str

    @property
    def judgement(self) -> dict[str, Any]:
        """The report; that of the state before where the command wrote."""
        found: dict[str, Any] = self.document.get("before", self.document)
        return found

    @property
    def writes(self) -> int:
        """How many steps were written."""
        return int(self.document.get("written_steps") or 0)

    @property
    def codes(self) -> set[str]:
        """The codes at warning or above."""
        findings = self.judgement["findings"]
        return {each["code"] for each in findings if each["severity"] != "info"}

    @property
    def decides(self) -> str:
        """The kind of the decision: plan, nothing, no-safe-plan, ask."""
        return str(self.judgement["decision"]["kind"])

    def harmed(self, harm: str) -> set[str]:
        """The shards ("" for the whole application) of the effects of this harm."""
        return {each["shard"] or "" for each in self._effects(harm)}

    def counted(self, harm: str) -> Counter[str]:
        """Records by shard, of the effects of this harm that records were counted for."""
        found: Counter[str] = Counter()
        for each in self._effects(harm):
            if each["records"] is not None:
                found[each["shard"]] += each["records"]["count"]
        return +found

    def _effects(self, harm: str) -> list[dict[str, Any]]:
        unique = {
            json.dumps(effect, sort_keys=True)
            for finding in self.judgement["findings"]
            for effect in finding["effects"]
            if effect["harm"] == harm
        }
        return [json.loads(text) for text in unique]


@dataclass(frozen=True, slots=True)
class Tool:
    """Commands against the servers of one test; ``state`` holds their journals."""

    state: Path
    endpoints: Mapping[str, str]
    """URLs by service, as boto3 names it."""

    def run(self, *words: str, allowed: tuple[int, ...] = (OK,)) -> Answer:
        """One command; AssertionError when it ends otherwise than ``allowed``."""
        command = [sys.executable, "-m", "reshardctl", *words, "--format", "json"]
        run = subprocess.run(
            command, env=self._surroundings(), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=LIMIT_SECONDS, check=False,
        )  # fmt: skip
        assert run.returncode in allowed, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
        document = json.loads(run.stdout) if run.stdout.startswith("{") else {}
        return Answer(run.returncode, document, run.stderr)

    def inspect(self, locator: str, stream: str, *words: str) -> Answer:
        """What the next start does; findings are no error."""
        return self.run("inspect", locator, "--stream", stream, *words, allowed=(OK, FINDINGS))

    def fix(self, locator: str, stream: str, *words: str) -> Answer:
        """Repair, on the operator's word that nothing runs."""
        return self.run("fix", locator, "--stream", stream, "--assume-stopped", "--yes", *words)

    def undo(self, journal: str) -> Answer:
        """Take a fix back."""
        return self.run("undo", journal, "--assume-stopped", "--yes")

    def _surroundings(self) -> dict[str, str]:
        kept = environment_without("AWS_", "RESHARDCTL_")
        urls = {f"AWS_ENDPOINT_URL_{name.upper()}": url for name, url in self.endpoints.items()}
        return {
            **kept,
            **urls,
            **MADE_UP,
            "RESHARDCTL_STATE_DIR": str(self.state),
        }
