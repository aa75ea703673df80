"""The command as an operator runs it on a bad day: through faults, by another clock, killed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.proof.chaos.proxy import Door
from tests.support.made_up_aws import MADE_UP, environment_without
from tests.support.own_folders import CHECKOUT
from tests.support.servers import PASSWORD

LIMIT_SECONDS = 240.0
"""After so long a command hangs; retries and delays take most of it."""
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "chaosSecretKey0123456789abcdefghijklmnop",
    "AWS_SESSION_TOKEN": "chaosSessionToken0123456789abcdefghijkl",
}
DEFECTS = "Traceback (most recent call last)", "this is a defect of reshardctl"
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
COMMAND = "-m", "reshardctl"
OTHER_CLOCK = "-c", """
import runpy, sys, time
real, ahead = time.time, float(sys.argv.pop(1))
time.time = lambda: real() + ahead
runpy.run_module("reshardctl", run_name="__main__", alter_sys=True)
"""
"""The command with a clock that is ahead by its first argument, in seconds (under libfaketime
0.9.10 the sleeps of Python 3.11 fail or never end)."""
RATES = 0.03, 0.15, 0.5, 0.9
HOURS = (-30, -7, -2, -1, 1, 2, 7, 30)


@cache
def documented() -> frozenset[int]:
    """The exit codes of docs/exit-codes.md."""
    text = (CHECKOUT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    return frozenset(int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE))


@dataclass(frozen=True)
class Chance:
    """What befalls one command. rate: of faults at each request. hours: of its clock, ahead.
    after: seconds from its start to the signal, or from the so-manieth growth of its journal."""

    rate: float = 0.0
    hours: int = 0
    signal: signal.Signals | None = None
    after: float = 0.0
    growths: int = 0

    @classmethod
    def drawn(cls, dice: Random, *, killed: float) -> Chance:
        """killed: how probably."""
        rate = dice.choice(RATES) if dice.random() < 0.5 else 0.0
        hours = dice.choice(HOURS) if dice.random() < 0.2 else 0
        end, growths = dice.choice(SIGNALS), dice.choice((0, 1, 1, 2, 2, 3, 4, 5, 6))
        after = dice.uniform(0, dice.choice((0.005, 0.05, 0.5)) if growths else 3.0)
        if dice.random() >= killed:
            return cls(rate, hours)
        return cls(rate, hours, end, after, growths)

    def __str__(self) -> str:
        said = [f"faults {self.rate:.0%}"] if self.rate else []
        said += [f"clock {self.hours:+}h"] if self.hours else []
        if self.signal:
            since = f"the {self.growths}. growth of its journal" if self.growths else "its start"
            said += [f"{self.signal.name} {self.after:.3f} s after {since}"]
        return ", ".join(said) or "calm"


CALM = Chance()


@dataclass(frozen=True)
class Ran:
    """How a command ended. killed: a signal came that leaves it no word."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str
    killed: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """What it printed as JSON; empty where it printed none."""
        try:
            found = json.loads(self.out)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


@dataclass
class Operator:
    """Commands of one world; `wrong` gathers what no command may do, `told` what happened."""

    folder: Path
    variables: Mapping[str, str]
    doors: list[Door]
    wrong: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    def say(self, what: str) -> None:
        """Note what happened, and after how many seconds."""
        self.told.append(f"{time.monotonic() - self.began:6.1f}  {what}")

    @property
    def state(self) -> Path:
        """Where journals lie."""
        return self.folder / "state"

    def run(self, *words: str, chance: Chance = CALM) -> Ran:
        """One command, to its end or its killing; afterwards the network is calm."""
        for door in self.doors:
            door.rate = chance.rate
        try:
            ran = self._ran(words, chance)
        finally:
            for door in self.doors:
                door.calm()
        self._judge(ran, chance)
        return ran

    def _ran(self, words: tuple[str, ...], chance: Chance) -> Ran:
        before = self._journals()
        ahead = str(chance.hours * 3600)
        started = (*OTHER_CLOCK, ahead) if chance.hours else COMMAND
        process = subprocess.Popen(
            [sys.executable, *started, *words], env=self._environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=self.folder, preexec_fn=_heeding_signals,
        )
        killed = chance.signal is not None and self._signal(process, chance, before)
        try:
            out, err = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.wrong.append(f"{' '.join(words)}: still ran after {LIMIT_SECONDS:.0f} s")
        return Ran(words, process.returncode, out, err, killed)

    def _signal(
        self, process: subprocess.Popen[str], chance: Chance, before: dict[str, int]
    ) -> bool:
        """Send it when its time has come. Whether it may end the command without a word: SIGKILL
        may, and what comes while Python itself begins."""
        assert chance.signal is not None
        ends, left = time.monotonic() + LIMIT_SECONDS, chance.growths
        while left and time.monotonic() < ends:
            if process.poll() is not None:
                return False
            if (now := self._journals()) != before:
                before, left = now, left - 1
            time.sleep(0.001)
        try:
            process.wait(chance.after)
        except subprocess.TimeoutExpired:
            mute = chance.signal == signal.SIGKILL or not _begun(process.pid)
            process.send_signal(chance.signal)
            return mute
        return False

    def _journals(self) -> dict[str, int]:
        return {path.name: path.stat().st_size for path in self.state.glob("*.jsonl")}

    def _environment(self) -> dict[str, str]:
        return {
            **environment_without("AWS_", "PYTHON", "RESHARDCTL_"), **MADE_UP, **SECRETS,
            "RESHARDCTL_STATE_DIR": str(self.state), "HOME": str(self.folder),
            "NO_PROXY": "127.0.0.1", **self.variables,
        }

    def _judge(self, ran: Ran, chance: Chance) -> None:
        verb, said = ran.words[0], ran.out + ran.err
        self.say(f"  reshardctl {' '.join(ran.words)}   [{chance}] -> {ran.code}")
        if ran.code not in (0, 1) or (verb in ("fix", "undo") and "json" not in ran.words):
            lines = [line for line in (ran.err or ran.out).splitlines() if line.strip()]
            self.say(f"    {' / '.join(map(str.strip, lines[-4:]))[:600]}")
        self.counts[f"{verb} ended {ran.code}"] += 1
        if chance.signal and (ran.killed or ran.code in (5, 130)):
            self.counts[f"ended by {chance.signal.name}"] += 1
        self.counts["clock steps of a command"] += bool(chance.hours)
        last = ran.err.strip()[-1500:]
        if ran.code not in documented() and not ran.killed:
            self.wrong.append(f"{verb}: exit code {ran.code} is not documented: {last}")
        if not ran.killed and any(word in said for word in DEFECTS):
            self.wrong.append(f"{verb}: a defect: {last}")
        if ran.code not in (0, 1, 130) and not ran.killed and not said.strip():
            self.wrong.append(f"{verb}: ended {ran.code} without a message")
        for secret in (*SECRETS.values(), PASSWORD):
            if secret in said:
                self.wrong.append(f"{verb}: printed a secret")


def _begun(process: int) -> bool:
    """Whether the command itself is at work: Python leaves SIGTERM to the system, the command
    catches it (proc_pid_status(5), SigCgt)."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def _heeding_signals() -> None:
    """In the child: a shell that runs this in the background has it ignore Ctrl-C."""
    for number in set(SIGNALS) - {signal.SIGKILL}:
        signal.signal(number, signal.SIG_DFL)
