"""`--positions`, `--set` and `--shift`: the positions that a request gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reshardctl.codec import strict as file_kinds
from reshardctl.commands.target import Target
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.model.times import parse_seconds
from reshardctl.planning.policy import POSITIONS, GivenPosition, GivenPositions
from reshardctl.snapshot import file as snapshots
from reshardctl.snapshot.positions import (
    exported_of,
    once,
    position_of_option,
    positions_in,
    text_of,
)

SCHEME = "snapshot:"


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The options that give positions, as they are spelled."""

    positions: str | Path | None = None
    """A file of `export`, or a snapshot."""
    set_to: Sequence[str] = ()
    """`SHARD=POSITION`, each."""
    shift: str | None = None
    """`-2h`: how far every position is moved back."""

    @property
    def given(self) -> dict[str, bool]:
        """The options → whether they are given."""
        return {
            "--positions": self.positions is not None, "--set": bool(self.set_to),
            "--shift": self.shift is not None,
        }

    def words(self) -> tuple[str, ...]:
        """The options, for a command that repeats the request."""
        words = [] if self.positions is None else ["--positions", str(self.positions)]
        words += [word for text in self.set_to for word in ("--set", text)]
        return (*words, *([] if self.shift is None else [f"--shift={self.shift}"]))


def with_given(options: GivenOptions, target: Target) -> Target:
    """The target whose plan moves shards to the positions given; unchanged if there are none."""
    if not any(options.given.values()):
        return target
    given = _given(options, target)
    return replace(
        target, argv=(*target.argv, *options.words()),
        to_write=(*target.to_write, *options.words()) if target.to_write else (),
        repair_options=replace(target.repair_options, policy=replace(POSITIONS, given=given)),
    )


def require_alone(options: GivenOptions, others: dict[str, bool]) -> None:
    """UsageError for options that say in another way where each shard should start."""
    given = [name for name, there in options.given.items() if there]
    if not given:
        return
    if options.shift is not None and len(given) > 1:
        raise UsageError(
            f"--shift and {given[0]} exclude each other: --shift moves every shard",
            f"fix with --shift first, then with {given[0]}",
        )
    if wrong := [name for name, there in others.items() if there]:
        raise UsageError(
            f"{given[0]} and {wrong[0]} exclude each other: both say where shards start",
            f"leave {wrong[0]} out",
        )


def _given(options: GivenOptions, target: Target) -> GivenPositions:
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
    what, kinds = "a file of positions or a snapshot", (file_kinds.POSITIONS, file_kinds.SNAPSHOT)
    with file_kinds.or_another_kind(text, name, what, *kinds):
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
