"""What happens in the world of a seed, and what is wrong with it.

A round: the consumer runs while the stream moves, and is stopped or killed; the stream moves on; a
damage; commands that look; a repair, which may be killed, and its way back. In the end the network
is calm, and the consumer runs until nothing more comes.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from botocore.exceptions import ClientError

from reshardctl.testing import serve
from tests.proof.chaos.commands import CALM, Chance, Operator, Ran
from tests.proof.chaos.consumers import SYSTEMS, Laboratory, Life, System
from tests.proof.chaos.world import RETENTION_HOURS, STREAM, World
from tests.proof.drawn.states import Rows

POLICIES: tuple[tuple[str, ...], ...] = (
    *[()] * 6, ("--probe",), ("--policy", "latest"), ("--policy", "at-timestamp=-30m"),
    ("--shift", "-20m"),
)
REREAD = "--accept", "reread=all,disorder"
"""A lossless plan skips nothing; a skip that is accepted is nothing to repair."""
SKIP = "--accept", "skip=all,reread=all,disorder"
WRITTEN = 0, 1
ATTEMPTS = 4
"""At a way back, of which the last is calm."""
LONGER = 3
"""Times as long as usual a consumer has to be still, where something is missing."""
LOOKS = ("inspect", "status", "fix", "graph", "export", "explain", "snapshot", "undo", "discover")


@dataclass
class Played:
    """What came of a seed. folder: with everything, where something is wrong."""

    seed: int
    name: str
    wrong: list[str]
    told: list[str]
    counts: Counter[str]
    seconds: float
    folder: Path


def play(
    seed: int, laboratory: Laboratory, folder: Path, consumer: str = "", rounds: int = 0
) -> Played:
    """Everything that happens in this world. consumer: only a kind of SYSTEMS; else it is drawn, as
    the number of rounds is."""
    dice, began = Random(f"chaos {seed}"), time.monotonic()
    kind = consumer or dice.choice(sorted(SYSTEMS))
    world = World.new(dice)
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        server = stack.enter_context(serve(world.fake))
        system = SYSTEMS[kind](laboratory, world, server.url, folder)
        for door in system.doors:
            stack.callback(door.close)
        operator = Operator(folder, system.variables, system.doors[:2])
        played = _Play(dice, world, system, operator)
        try:
            played.whole(rounds or dice.randint(2, 5))
        except Exception as error:  # of the harness, as a rule: it is a violation until understood
            operator.wrong.append(f"{type(error).__name__}: {error}")
        counts = operator.counts + played.counts
        for door in system.doors:
            counts.update({f"fault: {name}": count for name, count in door.met.items()})
    seconds = time.monotonic() - began
    done = Played(seed, system.name, operator.wrong, operator.told, counts, seconds, folder)
    (folder / "events.txt").write_text("\n".join([*done.told, *done.wrong]), encoding="utf-8")
    return done


@dataclass
class _Play:
    dice: Random
    world: World
    system: System
    operator: Operator
    backups: list[Rows] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def whole(self, rounds: int) -> None:
        self.operator.state.mkdir()
        self._say(f"{self.system.name}  {self.system.locator}")
        seeds = Random(self.dice.random())
        self._live(calm=True)
        for _ in range(rounds):
            self._phase(seeds, 1.0, lambda: self._move(self.dice.randint(1, 3)))
            self._phase(seeds, 0.9, self._damage)
            self._phase(seeds, 0.6, self._look)
            for chance in (0.8, 0.2):
                self._phase(seeds, chance, self._repair)
            self._phase(seeds, 0.4, lambda: self._live(calm=False))
        self._last()

    def _phase(self, seeds: Random, chance: float, play: Callable[[], None]) -> None:
        """Perhaps, with dice of its own: how often a phase draws depends on the pace of processes,
        and may not change what is drawn after it."""
        happens, seed = seeds.random() < chance, seeds.random()
        self.dice = self.world.dice = Random(seed)
        if happens:
            play()

    def _say(self, what: str) -> None:
        self.operator.say(what)

    def _wrong(self, what: str) -> None:
        self.operator.wrong.append(what)
        self._say(f"!! {what}")

    # The stream and the consumer

    def _move(self, times: int) -> None:
        for _ in range(times):
            event = self.dice.choice(("put", "put", "put", "reshard", "reshard", "step"))
            if event == "put":
                self.world.put(self.dice.randint(1, 5))
            elif event == "reshard":
                self._say(self.world.reshard())
                self.counts["reshards"] += 1
            elif self.dice.random() < 0.5 and (hours := self.world.step()):
                self._say(f"the clock of Kinesis steps {hours} h")
                self.counts["clock steps of Kinesis"] += 1

    def _live(self, *, calm: bool) -> None:
        """A bounded run of the consumer while the stream moves."""
        self._foretell()
        kill = not calm and self.dice.random() < 0.5
        rate = 0.0 if calm or self.dice.random() < 0.5 else self.dice.choice((0.02, 0.1, 0.3))
        life = self.system.begin(alone=kill)
        for door in self.system.doors[2:]:
            door.rate = rate
        begins = time.monotonic() + self.system.first_seconds
        while time.monotonic() < begins and not life.over() and not life.delivered():
            time.sleep(self.dice.uniform(0.2, 1.5))
            self.world.put(1)
        ends = time.monotonic() + (0 if calm else self.dice.uniform(0, 6))
        if not calm and self.system.live and self.dice.random() < 0.5:
            self._mend_beside()
        while time.monotonic() < ends and not life.over():
            time.sleep(self.dice.uniform(0.2, 1.5))
            self._move(1)
        if calm:
            life.settled(partial(self._complete, life))
        (life.kill if kill else life.stop)()
        for door in self.system.doors[2:]:
            door.calm()
        self._lived(life.delivered(), f"{'killed' if kill else 'stopped'}, faults {rate:.0%}")
        self.counts["consumers killed"] += kill
        self.backups.append(self.system.rows())

    def _mend_beside(self) -> None:
        """A fix while the consumer runs, which writes only what is safe then; what it leaves half
        done is finished in the same way, unless the rows have moved on."""
        shown = self._command("fix", "--dry-run", "--format", "json")
        if shown.document.get("decision", {}).get("kind") != "plan":
            return
        self.world.ledger.accept(shown.document["decision"])
        known, chance = self._names(), Chance.drawn(self.dice, killed=0.3)
        ran = self._command("fix", "--live", "--yes", *REREAD, chance=chance)
        self.counts[f"fix --live ended {'by a signal' if ran.killed else ran.code}"] += 1
        for name in self._names() - known:
            if self._state(name) == "half done":
                ran = self.operator.run("fix", "--resume", name, "--live", "--yes", *REREAD)
                self.counts[f"fix --resume --live ended {ran.code}"] += 1

    def _lived(self, payloads: list[str], how: str) -> None:
        self._say(f"the consumer ran ({how}): {' '.join(payloads)}")
        self.world.ledger.deliver(payloads)
        self.counts["starts"] += 1

    def _foretell(self) -> None:
        """What the tool says of the next start."""
        ran = self._command("inspect", "--format", "json")
        self.world.ledger.before_start(ran.document)
        self.world.ledger.stored |= self.system.read(self.system.rows()).keys()
        judged = "findings" in ran.document
        self.counts["starts that were foretold"] += judged
        if not judged:
            self._say(f"  no judgement: {ran.document.get('what', ran.err)}")
        if ran.code == 3 and "number" not in ran.err:
            self.counts["could not tell"] += 1

    def _damage(self) -> None:
        rows = self.system.rows()
        seed = f"{self.dice.random()}"
        damaged, names = self.system.harmed(seed, rows, self.backups)
        try:
            self.system.put(damaged)
        except ClientError as error:  # no table holds such a row
            self._say(f"damage that cannot be stored: {error}")
            self.system.put(rows)
            return
        self._say(f"damage: {', '.join(names) or 'none'}")
        self.counts.update({f"damage: {name}": 1 for name in names})

    # Commands

    def _command(self, verb: str, *words: str, chance: Chance = CALM) -> Ran:
        where = (self.system.locator, "--stream", STREAM)
        return self.operator.run(verb, *where, *words, chance=chance)

    def _look(self) -> None:
        """A command that only reads, on a bad network, killed at times: the rows stay."""
        before, verb = self.system.rows(), self.dice.choice(LOOKS)
        chance = Chance.drawn(self.dice, killed=0.2)
        if verb == "undo":
            self.operator.run("undo", "--list", chance=chance)
        elif verb == "discover":
            self.operator.run("discover", STREAM, chance=chance)
        else:
            shard = self.dice.choice(sorted(self.world.fake.stream(STREAM).shards))
            more = {
                "fix": ("--dry-run",), "explain": (str(shard),),
                "snapshot": ("-o", str(self.operator.folder / f"{self.dice.random()}.snapshot")),
            }
            self._command(verb, *more.get(verb, ()), chance=chance)
        if self.system.rows() != before:
            self._wrong(f"{verb} changed rows")

    def _repair(self) -> None:
        """A look at what it costs, the fix, and the way back where it did not end well."""
        chance = Chance.drawn(self.dice, killed=0.5)
        words: tuple[str, ...] = self.dice.choice(POLICIES)
        hours = Chance(hours=chance.hours)
        shown = self._command("fix", "--dry-run", "--format", "json", *words, chance=hours)
        if shown.code == 4 and "--created" in shown.err:
            words = (*words, "--created", self._created())
            shown = self._command("fix", "--dry-run", "--format", "json", *words, chance=hours)
        decision = shown.document.get("decision", {})
        kind = decision.get("kind", "refused")
        if kind == "plan" and not decision["steps"]:
            kind = "nothing to write"
        self.counts[f"decided: {kind}"] += 1
        if kind != "plan":
            if kind != "nothing" and self.dice.random() < 0.7:
                self._say("the operator restores the rows as the consumer left them")
                self.system.put(self.backups[-1])
            return
        before, known = self.system.rows(), self._names()
        timed = "--policy" in words  # it skips what came meanwhile, too: what was saved counts
        self.world.ledger.accept(decision)
        accept = SKIP if timed else REREAD
        if self.dice.random() < 0.4 or timed:
            plan = self.operator.folder / f"{len(self.operator.told)}.plan"
            saved = self._command("fix", "--dry-run", "--out", str(plan), "--format", "json",
                                  *words, *accept, chance=hours)
            if saved.code == 1 and plan.exists():
                self.world.ledger.accept(saved.document["decision"])
                words = ("--created", self._created()) if "--created" in words else ()
                ran = self.operator.run("fix", "--plan", str(plan), "--yes", "--assume-stopped",
                                        *accept, *words, chance=chance)
                self._judged(ran, before, known)
                return
        ran = self._command("fix", "--yes", "--assume-stopped", *accept, *words, chance=chance)
        self._judged(ran, before, known)

    def _created(self) -> str:
        created = self.world.fake.stream(STREAM).created
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(created))

    def _names(self) -> set[str]:
        return {path.name for path in self.operator.state.glob("*.jsonl")}

    def _judged(self, ran: Ran, before: Rows, known: set[str]) -> None:
        """A fix left the rows as they were, or a journal with which they become so or whole."""
        self.counts["fixes"] += 1
        rows = self.system.rows()
        fresh = self._names() - known
        if not fresh:
            if rows != before:
                self._wrong(f"rows changed, and no journal says so: {self._changed(before, rows)}")
            return
        (name,) = fresh
        state = self._state(name)
        wrote = rows != before
        if ran.code not in (*WRITTEN, 5) and not ran.killed and wrote:
            self._wrong(f"fix ended {ran.code}, which says that nothing was written")
        if state == "nothing written" and wrote:
            self._wrong(f"{name}: rows changed: {self._changed(before, rows)}")
        if state in ("half done", "undo begun"):
            self.counts["half done"] += 1
            state = self._brought_on(name, before)
        if state == "applied and verified":
            self._written(name, before)

    def _brought_on(self, name: str, before: Rows) -> str:
        """Resumed or undone, through more of the same at first. Returns how it then stands."""
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            chance = CALM if last else Chance.drawn(self.dice, killed=0.4)
            state = self._state(name)
            if state not in ("half done", "undo begun"):
                break
            sure = ("--yes", "--assume-stopped")
            if state == "undo begun" or self.dice.random() < 0.5:
                ran = self.operator.run("undo", name, *sure, chance=chance)
            else:
                ran = self.operator.run("fix", "--resume", name, *sure, *SKIP, chance=chance)
            if chance == CALM and ran.code not in WRITTEN:
                self._wrong(f"no way back: {' '.join(ran.words)} ended {ran.code}: {ran.err}")
        state = self._state(name)
        if state == "undone":
            self._restored(name, before)
        return state

    def _written(self, name: str, before: Rows) -> None:
        """A fix that was written in full: what it reads again was said; undo takes it back."""
        self.counts["fixes written"] += 1
        after = self.system.rows()
        read, now = self.system.read(before), self.system.read(after)
        if again := self.world.ledger.rewound(read, now):
            self._wrong(f"{name} reads again, and did not say so: {', '.join(again)}")
        if self.dice.random() >= 0.3:
            return
        chance = Chance.drawn(self.dice, killed=0.4)
        self.operator.run("undo", name, "--yes", "--assume-stopped", chance=chance)
        if (state := self._state(name)) == "undo begun":
            state = self._brought_on(name, before)
        elif state == "undone":
            self._restored(name, before)
        elif chance == CALM:
            self._wrong(f"undo of {name} left it {state}")

    def _restored(self, name: str, before: Rows) -> None:
        self.counts["undone"] += 1
        rows = self.system.rows()
        if changed := self._changed(before, rows):
            self._wrong(f"undo of {name} did not bring back: {changed}")

    def _changed(self, before: Rows, after: Rows) -> str:
        """Rows that differ in more than what no undo restores."""
        apart = self.system.apart
        was, now = (
            {key: {n: v for n, v in row.items() if n not in apart} for key, row in rows.items()}
            for rows in (before, after)
        )
        keys = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
        return "; ".join(f"{key}: {was.get(key)} became {now.get(key)}" for key in keys)

    def _state(self, name: str) -> str:
        """How a journal stands, as the tool tells."""
        ran = self.operator.run("undo", "--list", "--format", "json")
        found: dict[str, Any] = {
            Path(each["path"]).name: each for each in ran.document.get("journals", ())
        }
        if ran.code != 0 or name not in found:
            self._wrong(f"undo --list ended {ran.code} and does not name {name}: {ran.err}")
            return "unknown"
        state = str(found[name]["state"])
        if state == "unreadable":
            self._wrong(f"{name} cannot be read: {found[name]['why']}")
        return state

    # The end

    def _missing(self, more: Iterable[str] = ()) -> list[str]:
        """What is lost until now, and was not announced."""
        horizon = self.world.fake.clock.now() - RETENTION_HOURS * 3600
        return self.world.ledger.lost(horizon, more)

    def _complete(self, life: Life) -> bool:
        """Whether this start has delivered what was missing."""
        return not self._missing(life.delivered())

    def _last(self) -> None:
        """Until nothing more comes; once more in a process of its own where something is missing: a
        busy machine may keep a consumer from its records."""
        self._foretell()
        lost, settled = ["all"], False
        for patience in (1, LONGER):
            if not lost:
                break
            life = self.system.begin(alone=patience > 1)
            settled = life.settled(partial(self._complete, life), patience)
            life.stop()
            self._lived(life.delivered(), "to the end")
            lost = self._missing()
            self.counts["second looks"] += patience > 1
        if lost and settled:
            self._wrong(f"lost, and nobody said so: {', '.join(lost)}")
        self.counts["unsettled"] += bool(lost) and not settled
        ledger, clock = self.world.ledger, self.world.fake.clock
        due = ledger.due(clock.now() - RETENTION_HOURS * 3600)
        self.counts["records"] += len(ledger.puts)
        self.counts["records delivered"] += len(ledger.delivered)
        self.counts["records announced as lost"] += len(due) - len(lost)
        self.counts["records that nothing could know of"] += (
            len(ledger.puts) - len(ledger.delivered) - len(due)
        )
        rows = json.dumps(self.system.rows(), indent=1, default=str)
        (self.operator.folder / "rows.json").write_text(rows, encoding="utf-8")
