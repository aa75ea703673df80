"""`reshardctl rebuild` as an operator runs it, with PySpark beside the environment of the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.proof.libraries.spark.built import beside
from tests.support.made_up_aws import MADE_UP, environment_without

LIMIT_SECONDS = 900.0
"""Seconds after which a command, and Spark in it, is taken to hang."""


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended. `document`: what it printed as JSON, {} where it printed none."""

    code: int
    document: dict[str, Any]
    out: str
    err: str

    def rereads(self) -> dict[str, tuple[int, int]]:
        """Of a plan: shard → the numbers between which it says that records come again."""
        report = self.document.get("before", self.document)
        return {
            e["shard"]: (_number(e["since"], 0), _number(e["until"], 1 << 300))
            for run in report["decision"]["after"] for e in run if e["harm"] == "re-read"
        }


def _number(cut: Any, otherwise: int) -> int:
    text = str(cut.get("number") or "") if isinstance(cut, Mapping) else str(cut)
    digits = text.partition("/")[0]
    return int(digits) if digits.isdigit() else otherwise


@dataclass(frozen=True, slots=True)
class Operator:
    """Commands against the servers of one test; journals lie below ``state``."""

    state: Path
    endpoints: Mapping[str, str]
    release: str = "4"
    """Of PySpark."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More of the environment."""

    def rebuild(self, locator: str, stream: str, sink: Path | str, *words: str) -> Said:
        """On the operator's word that nothing runs."""
        return self.run(
            "rebuild", locator, "--stream", stream, "--from", str(sink), "--assume-stopped",
            "--yes", *words,
        )

    def run(self, *words: str) -> Said:
        """One command; JSON unless another format is asked for."""
        form = () if "--format" in words else ("--format", "json")
        done = subprocess.run(
            [sys.executable, "-m", "reshardctl", *words, *form], env=self._surroundings(),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS,
            check=False,
        )  # fmt: skip
        document = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        return Said(done.returncode, document, done.stdout, done.stderr)

    def _surroundings(self) -> dict[str, str]:
        kept = environment_without("AWS_", "RESHARDCTL_")
        kept.pop("SPARK_HOME", None)
        urls = {f"AWS_ENDPOINT_URL_{name.upper()}": url for name, url in self.endpoints.items()}
        state = {"RESHARDCTL_STATE_DIR": str(self.state)}
        return {**kept, **urls, **beside(self.release), **MADE_UP, **state, **self.variables}


def as_json(rows: Iterable[tuple[str, str, str]], to: Path) -> Path:
    """A sink of JSON lines: (shard id, sequence number, payload)."""
    to.mkdir(parents=True)
    lines = [
        json.dumps({"shard_id": shard, "sequence_number": number, "data": payload})
        for shard, number, payload in rows
    ]
    (to / "part-00000.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return to
