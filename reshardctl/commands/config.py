"""`config check` and `config iam`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from msgspec.structs import replace

from reshardctl.at_once import at_once
from reshardctl.commands.configured import config_of, several
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.target import Selection, Target
from reshardctl.config.entries import Config
from reshardctl.config.iam import ENVIRONMENT, policies
from reshardctl.errors import EmptyCheckpoint, ReshardError, UsageError
from reshardctl.exit import Exit, worst
from reshardctl.render.words import count
from reshardctl.report.report import make
from reshardctl.snapshot import take

_ACCOUNT = re.compile(r"\d{12}\Z", re.ASCII)


def checked(
    names: Sequence[str], selection: Selection, online: bool, observer: Observer = SILENT
) -> tuple[list[str], Exit]:
    """Reads the file, and with `online` what it names.

    Returns lines for people and the exit code.
    """
    config = config_of(selection)
    targets = several(names, config, selection, observer)
    shown = [_summary(config)]
    if not online:
        return [*shown, "Nothing was called; --online looks whether all can be reached."], Exit.OK
    ready = [_opened(target) for target in targets]
    outcomes = at_once([_look(target) for target in ready])
    codes = [Exit.OK]
    for target, outcome in zip(targets, outcomes, strict=True):
        assert target.entry is not None
        if isinstance(outcome, ReshardError):
            codes.append(outcome.exit)
            lines = [f"could not tell: {outcome.what}", *([outcome.next] if outcome.next else [])]
        else:
            lines = [outcome]
        shown += [
            f"{target.entry.name:20}  {lines[0]}", *(f"{'':22}{line}" for line in lines[1:])
        ]
    return shown, worst(*codes)


def _summary(config: Config) -> str:
    parts = [
        count(len(config.streams), "stream"), count(len(config.consumers), "consumer"),
        count(len(config.suppressions), "suppression"),
    ]
    return f"{config.file}: {', '.join(parts)}. It holds together."


def _opened(target: Target) -> Target | ReshardError:
    """The target with its ports made: making clients is not thread-safe."""
    try:
        ports = target.ports()
    except ReshardError as error:
        return error
    return replace(target, opened=lambda: ports)


def _look(target: Target | ReshardError) -> Callable[[], str]:
    def look() -> str:
        if isinstance(target, ReshardError):
            raise target
        ports = target.ports()
        found = take(ports.kinesis, ports.store, target.stream, target.locator, ports.clock)
        report = None
        with suppress(EmptyCheckpoint):
            report = make(found, target.repair_options)
        parts = [count(len(found.lineage), "shard"), count(len(found.images), "row")]
        if report is not None and report.foreign:
            parts.append(f"{len(report.foreign)} of them another stream's")
        return f"stream {found.lineage.stream.name} with {', '.join(parts)}"

    return look


def allowed(
    names: Sequence[str], selection: Selection, group: str, account: str, whose: str | None,
    observer: Observer = SILENT,
) -> Iterable[str]:
    """The policies as text: a single one as bare JSON, several each below its identity."""
    if account and not _ACCOUNT.match(account):
        raise UsageError(f"--account {account}: not an account", "it has twelve digits")
    targets = several(names, config_of(selection), selection, observer)
    entries = [target.entry for target in targets if target.entry is not None]
    texts = policies(entries, group, account)
    if whose is not None:
        wanted = [whose, f"profile {whose}", ENVIRONMENT if whose == "environment" else whose]
        texts = {identity: policy for identity, policy in texts.items() if identity in wanted}
        if not texts:
            raise UsageError(
                f"--as {whose}: nothing is reached as that", "reshardctl config iam lists them all"
            )
    for identity, policy in texts.items():
        if len(texts) > 1:
            yield f"# {identity}"
        yield from json.dumps(policy, indent=2).splitlines()
