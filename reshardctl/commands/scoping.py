"""`--shards`, `--rule` and `--not-rule`: a part of a consumer, judged and repaired by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reshardctl.commands.target import Selection, Target
from reshardctl.diagnosis.rules import SINKS
from reshardctl.diagnosis.rules.pages import find
from reshardctl.errors import Refused, UsageError
from reshardctl.model import short
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.shards import parts_of
from reshardctl.planning.plan import NoSafePlan
from reshardctl.render.words import command, shortened
from reshardctl.report.report import Report
from reshardctl.report.scope import ScopeOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedSelection(Selection):
    """A selection that may be of some shards and rules only."""

    shards: Sequence[str] = ()
    """Numbers, ranges and ids of shards, as in `["4,5", "8-11"]`; none means all."""
    rules: Sequence[str] = ()
    """Codes or names of the findings that count; none means all."""
    not_rules: Sequence[str] = ()
    """Codes or names of findings that do not count."""

    @property
    def scope(self) -> ScopeOptions | None:
        """What is selected, `None` for everything. UsageError for what cannot be selected."""
        scope = ScopeOptions(
            parts_of(self.shards), _codes("--rule", self.rules),
            _codes("--not-rule", self.not_rules),
        )
        if both := set(scope.rules) & set(scope.not_rules):
            raise UsageError(
                f"--rule and --not-rule both name {min(both)}",
                f"to see its findings, take {min(both)} from --not-rule, else from --rule",
            )
        if not scope.words:
            return None
        for option, given in (
            ("--bootstrap", self.bootstrap), ("--recreated", self.recreated is not None),
        ):
            if given:
                raise UsageError(
                    f"{option} and {scope.words[0]} exclude each other: {option} begins anew "
                    "with every shard", f"leave {scope.words[0]} out",
                )
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
        argv=(*target.argv, *scope.words),
        to_write=(*target.to_write, *scope.words) if target.to_write else (),
    )


def require_known(report: Report) -> None:
    """Raises UsageError for a selected shard that neither the stream nor a position names."""
    scope, lineage = report.options.scope, report.snapshot.lineage
    if scope is None:
        return
    known = {*lineage, *report.positions}
    if unknown := scope.unknown(known):
        raise UsageError(
            f"--shards {unknown[0]}: no such shard is listed in {lineage.stream.name}, and no "
            "position names one",
            did_you_mean(unknown[0], sorted(known), "reshardctl inspect lists what is there"),
        )


def require_sound(report: Report, verb: str, argv: Sequence[str]) -> None:
    """Raises Refused, with the next command, if the selected part cannot be mended by itself.

    argv: the arguments of the command that was run, which end with what is selected.
    """
    decision, scope = report.decision, report.options.scope
    if scope is None or not isinstance(decision, NoSafePlan) or not decision.needs:
        return
    named = ["--shards", ",".join(map(short, decision.needs))]
    words = command(verb, "--dry-run", *argv[: len(argv) - len(scope.words)], *named)
    raise Refused(f"{shortened(decision.why)}; nothing was written", " ".join(words))
