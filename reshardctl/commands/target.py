"""What a command works on: a consumer, its stream, how to reach both, and what is wanted of it.

The texts of options become values here: `--shards`, `--rule` and `--not-rule` select a part of a
consumer, judged and repaired by itself; `--positions`, `--set` and `--shift` give positions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec import strict
from reshardctl.codec.argv import given, option, words
from reshardctl.commands.exclusions import FILES, GIVEN, require_compatible, set_in
from reshardctl.commands.observer import FailOn, Threshold
from reshardctl.commands.requests import PRINTED, REACHED, Account, Files
from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.rules import SINKS, Severity
from reshardctl.diagnosis.rules.base import Suppression
from reshardctl.diagnosis.rules.pages import find
from reshardctl.errors import Refused, UsageError, command_line
from reshardctl.model import short
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.shards import names_shards, parts_of
from reshardctl.model.times import instant, parse_instant, parse_seconds, parse_when
from reshardctl.planning.plan import NoSafePlan
from reshardctl.planning.policy import (
    AT_TIMESTAMP,
    EVERYTHING,
    POLICIES,
    POSITIONS,
    Accept,
    GivenPosition,
    GivenPositions,
    Policy,
)
from reshardctl.render.words import command, shortened
from reshardctl.report.report import RepairOptions, Report
from reshardctl.report.scope import ScopeOptions
from reshardctl.snapshot import file as snapshots
from reshardctl.snapshot.positions import (
    exported_of,
    once,
    position_of_option,
    positions_in,
    text_of,
)

if TYPE_CHECKING:
    from reshardctl.config.entries import Consumer as Entry
    from reshardctl.kinesis.budget import Limits
    from reshardctl.snapshot import Ports


def _time(text: str) -> str:
    return instant(parse_instant(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The options beside the consumers, spelled as on the command line.

    `None` means not given: the configuration decides, if it names the consumer, or the default.
    """

    stream: str | None = option("--stream")
    """Name or ARN; needed if the consumer is named by a locator."""
    account: Account = field(default_factory=Account)
    """How AWS is reached."""
    policy: str | None = option("--policy")
    """`lossless`, `latest`, `at-timestamp=TIME` or `latest-at-start`."""
    accept: str | None = option("--accept")
    """What a repair may cost per shard: `skip=12m,reread=3h,disorder`."""
    probe: bool | None = option("--probe", no="--no-probe")
    """Whether bounded reads of the stream may decide what the rows leave open."""
    bootstrap: bool = option("--bootstrap", False)
    """Whether the application is new, and its first positions are to be made."""
    recreated: str | None = option("--recreated", spell=_time)
    """The creation time of the stream that replaced an earlier one of its name."""
    created: str | None = option("--created", spell=_time)
    """The creation time of the stream that the positions belong to."""
    config: Path | None = option("--config")
    """The configuration file, if it is not the usual one."""

    @property
    def created_at(self) -> float | None:
        """`created` in Unix seconds. UsageError if it is no time."""
        return None if self.created is None else parse_instant(self.created, "--created")

    @property
    def recreated_at(self) -> float | None:
        """`recreated` in Unix seconds. UsageError if it is no time."""
        return None if self.recreated is None else parse_instant(self.recreated, "--recreated")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesSelection(Selection):
    """A selection whose stream and positions may come from files that other programs printed."""

    shards: Sequence[str | Path] = option("--shards", ())
    """Numbers, ranges and ids of shards, as in `["4,5", "8-11"]`; none means all. A path, or a text
    that names no shards, is a file: what `aws kinesis list-shards` or `describe-stream` printed."""
    files: Files = field(default_factory=Files)
    """What else other programs printed, in place of calls."""

    @property
    def selectors(self) -> tuple[str, ...]:
        """What names shards."""
        return tuple(text for text in self.shards if isinstance(text, str) and names_shards(text))

    @property
    def listing(self) -> tuple[str, ...]:
        """The files that list the stream's shards."""
        files = (str(text) for text in self.shards if text not in self.selectors)
        return tuple(f"./{file}" if names_shards(file) else file for file in files)

    @property
    def file_words(self) -> tuple[str, ...]:
        """What is typed for the files; nothing if the stream and its positions are read."""
        shards = (word for file in self.listing for word in ("--shards", file))
        return (*shards, *words(self.files, PRINTED))


def require_all_shards(selection: FilesSelection, why: str) -> None:
    """UsageError if `--shards` names shards, where it takes files only. why: the reason."""
    if named := selection.selectors:
        raise UsageError(
            f"--shards {named[0]}: {why}", f"for a file of that name: --shards ./{named[0]}"
        )


def asked(selection: FilesSelection) -> frozenset[str]:
    """The names of the options that are given: `--shards` if it names shards, FILES for files."""
    names = given(selection) - (set() if selection.selectors else {"--shards"})
    return names | ({FILES} if selection.file_words else set())


WANTED = (
    *REACHED, "--policy", "--accept", "--created", "--recreated", "--bootstrap", "--probe",
)
"""The options of a selection that follow the consumer and its stream in a suggested command."""


class Target(Struct, frozen=True):
    """One consumer to work on.

    argv: the arguments that name it in commands we print. opened: makes its ports; called at most
    once per command. Nothing is called before.
    """

    stream: str
    locator: Locator
    repair_options: RepairOptions
    probe: bool
    argv: tuple[str, ...]
    opened: Callable[[], Ports]
    offline: bool = False
    """Whether it is a snapshot, or comes from files: nothing changes, nothing can be written."""
    to_write: tuple[str, ...] = ()
    """The words of commands that write, if they are others: those of a snapshot's store."""
    entry: Entry | None = None
    """Its entry in reshardctl.toml, if it is named there."""
    suppressions: tuple[Suppression, ...] = ()
    """Which of its findings are known and accepted."""

    @property
    def suggested(self) -> tuple[str, ...]:
        """The words of the commands that come next: of a snapshot, those of its store if known."""
        return self.argv if self.repair_options.redacted else self.to_write or self.argv

    def ports(self) -> Ports:
        """Kinesis, the store and the clock."""
        return self.opened()

    def severity(self, threshold: Threshold) -> Severity | None:
        """The severity from which its findings fail a command; `None` if none does."""
        if not isinstance(threshold, FailOn):
            return threshold
        if self.entry is None or not self.entry.fail_on:
            return Severity.ERROR
        return None if self.entry.fail_on == "never" else Severity[self.entry.fail_on.upper()]


_BUDGET = re.compile(r"(calls|time)=(.+)\Z")
_CALLS = re.compile(r"[1-9][0-9]{0,6}\Z", re.ASCII)
_ACCEPT = re.compile(r"(skip|reread)=(.+)\Z")


def repair_options_of(
    policy: str, accept: str | None, bootstrap: bool = False, recreated: str | None = None
) -> RepairOptions:
    """What the operator wants, from the options. UsageError for a word that cannot be read."""
    time = None if recreated is None else parse_instant(recreated, "--recreated")
    flags = set_in({"--bootstrap": bootstrap, "--recreated": time is not None})
    require_compatible(flags, "--bootstrap")
    return RepairOptions(policy_of(policy), accept_of(accept), bootstrap, time)


def policy_of(text: str) -> Policy:
    """Reads `lossless`, `latest`, `latest-at-start`, or `at-timestamp=` and a time."""
    name, equals, time = text.partition("=")
    if name == AT_TIMESTAMP.name:
        if not time:
            raise UsageError(
                "--policy at-timestamp needs a time",
                "e.g. at-timestamp=2026-09-22T09:14:00Z, at-timestamp=-90m, at-timestamp=@reshard",
            )
        return replace(AT_TIMESTAMP, when=parse_when(time, f"--policy {name}"))
    if equals or name not in POLICIES:
        known = [n if n != AT_TIMESTAMP.name else f"{n}=TIME" for n in POLICIES]
        raise UsageError(
            f"--policy {text}: there is no such policy",
            did_you_mean(name, known, f"there are {', '.join(known)}"),
        )
    return POLICIES[name]


def accept_of(text: str | None) -> Accept | None:
    """Reads `skip=12m,reread=3h,disorder`; `reread=all` for no limit; `None` for no text."""
    if text is None:
        return None
    limits = {"skip": 0.0, "reread": Accept().reread}
    disorder, named = False, set[str]()
    for part in text.split(","):
        if part == "disorder":
            disorder = True
        elif match := _ACCEPT.match(part):
            limits[match[1]] = _limit(match[2], f"--accept {match[1]}")
            named.add(match[1])
        else:
            raise UsageError(
                f"--accept {text}: {part!r} is not known",
                "it takes skip=DURATION, reread=DURATION and disorder, joined by commas",
            )
    return Accept(limits["skip"], limits["reread"], disorder, names_skip="skip" in named)


def _limit(text: str, option: str) -> float:
    """Seconds; zero needs no unit."""
    if text == "all":
        return EVERYTHING
    return 0.0 if text == "0" else parse_seconds(text, option)


def budget_of(text: str | None) -> Limits:
    """Reads `calls=5000,time=10m`, or either of them; the other keeps its default."""
    from reshardctl.kinesis.budget import Limits

    limits = Limits()
    for part in text.split(",") if text else ():
        match = _BUDGET.match(part)
        if match and match[1] == "time":
            limits = replace(limits, seconds=parse_seconds(match[2], "--probe-budget time"))
        elif match and _CALLS.match(match[2]):
            limits = replace(limits, calls=int(match[2]))
        else:
            raise UsageError(
                f"--probe-budget {text}: {part!r} is not known",
                "it takes calls=NUMBER and time=DURATION, joined by a comma",
            )
    return limits


def counting(target: Target, count: bool) -> Target:
    """The same target; its effects are counted if `count`."""
    return (
        replace(target, repair_options=replace(target.repair_options, count=True))
        if count
        else target
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedSelection(FilesSelection):
    """A selection that may be of some shards and rules only."""

    rules: Sequence[str] = option("--rule", ())
    """Codes or names of the findings that count; none means all."""
    not_rules: Sequence[str] = option("--not-rule", ())
    """Codes or names of findings that do not count."""

    @property
    def scope(self) -> ScopeOptions | None:
        """What is selected, `None` for everything. UsageError for what cannot be selected."""
        scope = ScopeOptions(
            parts_of(self.selectors), _codes("--rule", self.rules),
            _codes("--not-rule", self.not_rules),
        )
        if both := set(scope.rules) & set(scope.not_rules):
            raise UsageError(
                f"--rule and --not-rule both name {min(both)}",
                f"to see its findings, take {min(both)} from --not-rule, else from --rule",
            )
        if not words(scope):
            return None
        require_compatible(asked(self), "--bootstrap", "--recreated")
        return scope


def _codes(option: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The codes of rules on a start. UsageError for another."""
    codes = []
    for part in ",".join(texts).split(",") if texts else ():
        try:
            rule = find(part)
        except UsageError as error:
            raise UsageError(f"{option}: {error.what}", error.next) from None
        if rule in SINKS:
            raise UsageError(
                f"{option}: {rule.code} is found by audit, not by inspect and fix",
                "reshardctl rule   # lists all of them",
            )
        codes.append(rule.code)
    return tuple(dict.fromkeys(codes))


def scoped(target: Target, scope: ScopeOptions | None) -> Target:
    """The same target, of which a part is judged and repaired."""
    if scope is None:
        return target
    return replace(
        target, repair_options=replace(target.repair_options, scope=scope),
        argv=(*target.argv, *words(scope)),
        to_write=(*target.to_write, *words(scope)) if target.to_write else (),
    )


def require_known(report: Report) -> None:
    """Raises UsageError for a selected shard that neither the stream nor a position names."""
    scope, lineage = report.options.scope, report.snapshot.lineage
    if scope is None:
        return
    known = {*lineage, *report.positions}
    if unknown := scope.unknown(known):
        status = command_line("reshardctl", "status", *report.snapshot.words)
        raise UsageError(
            f"--shards {unknown[0]}: no such shard is listed in {lineage.stream.name}, and no "
            "position names one",
            did_you_mean(unknown[0], sorted(known), f"{status}   # lists the shards"),
        )


def require_sound(report: Report, verb: str, argv: Sequence[str]) -> None:
    """Raises Refused, with the next command, if the selected part cannot be mended by itself.

    argv: the arguments of the command that was run, which end with what is selected.
    """
    decision, scope = report.decision, report.options.scope
    if scope is None or not isinstance(decision, NoSafePlan) or not decision.needs:
        return
    named = ["--shards", ",".join(map(short, decision.needs))]
    way = command(verb, "--dry-run", *argv[: len(argv) - len(words(scope))], *named)
    raise Refused(f"{shortened(decision.why)}; nothing was written", " ".join(way))


SCHEME = "snapshot:"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSelection(ScopedSelection):
    """A selection that may give positions."""

    positions: str | Path | None = option("--positions")
    """A file of `export`, or a snapshot: each shard in it is moved to its position there."""
    set_to: Sequence[str] = option("--set", ())
    """Positions of single shards: `3=NUMBER`, `3=TRIM_HORIZON`, `3=AT_TIMESTAMP:TIME`."""
    shift: str | None = option("--shift=")
    """How far every position is moved back: `-2h`."""


def with_given(options: GivenSelection, target: Target) -> Target:
    """The target whose plan moves shards to the positions given; unchanged if there are none."""
    if not (typed := words(options, GIVEN)):
        return target
    wanted = replace(POSITIONS, given=_given(options, target))
    return replace(
        target, argv=(*target.argv, *typed),
        to_write=(*target.to_write, *typed) if target.to_write else (),
        repair_options=replace(target.repair_options, policy=wanted),
    )


def _given(options: GivenSelection, target: Target) -> GivenPositions:
    if options.shift is not None:
        return GivenPositions(back=_back(options.shift))
    file = GivenPositions() if options.positions is None else _of_file(options.positions, target)
    alone = once(position_of_option(text) for text in options.set_to)
    named = {position.shard for position in alone}
    kept = tuple(position for position in file.positions if position.shard not in named)
    return replace(file, positions=(*kept, *alone))


def _back(text: str) -> float:
    """Seconds. UsageError for a shift that is none, or goes forward."""
    if not text.startswith("-"):
        raise UsageError(
            f"--shift {text}: positions move back only", "e.g. --shift -2h; to skip records: "
            "--policy at-timestamp=TIME",
        )
    if not (seconds := parse_seconds(text[1:], "--shift")):
        raise UsageError(f"--shift {text} moves nothing", "e.g. --shift -2h")
    return seconds


def _of_file(named: str | Path, target: Target) -> GivenPositions:
    name, _, consumer = str(named).removeprefix(SCHEME).partition("?consumer=")
    text = text_of(Path(name))
    what, kinds = "a file of positions or a snapshot", (strict.POSITIONS, strict.SNAPSHOT)
    with strict.or_another_kind(text, name, what, *kinds):
        return _parsed(text, str(named) == name, name, consumer, target)


def _parsed(text: str, plain: bool, name: str, consumer: str, target: Target) -> GivenPositions:
    if plain and f'"{snapshots.VERSION}"' not in text[:200]:
        return positions_in(text, name)
    saved = snapshots.consumers(snapshots.parsed(text, name))
    exported = exported_of(_own(saved, consumer or target.locator.target, target, name))
    return GivenPositions(
        tuple(
            GivenPosition(f"{name}: shard {p.shard}", p.shard, p.cut, p.basis, p.text)
            for p in exported.positions if p.text is not None
        ),
        arn=exported.arn, created=exported.created, whole=True, source=name,
    )


def _own(
    saved: Mapping[str, Snapshot], wanted: str, target: Target, name: str
) -> Snapshot:
    """The consumer's own rows in a snapshot, else those of its only consumer, of that library."""
    if wanted in saved:
        return saved[wanted]
    own = target.locator.spec.name
    alike = [snapshot for snapshot in saved.values() if snapshot.locator.spec.name == own]
    if len(saved) == len(alike) == 1:
        return alike[0]
    raise UsageError(
        f"{name}: no positions of {wanted}; it has {', '.join(saved) or 'no consumer'}",
        f"name one: --positions '{SCHEME}{name}?consumer=NAME'",
    )
