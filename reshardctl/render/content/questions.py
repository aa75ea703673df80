"""What each answer to a question changes, one line an answer, and the command that gives it."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.planning.decision import Answer
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Ask, Decision, NoSafePlan, Nothing, Plan
from reshardctl.render.content.findings import phrases
from reshardctl.render.escape import cut
from reshardctl.render.words import broadest, cost, disorders, shards, shortened
from reshardctl.report.changes import changes
from reshardctl.report.report import Report, told

LONGEST = 200
"""Characters of the reason why an answer leads to no plan."""


def outcomes(report: Report, ask: Ask) -> list[str]:
    """What is written with each of the answers, in their order; none where that is not known."""
    return [
        " or ".join(dict.fromkeys(_outcome(report, decision) for decision in decisions))
        for decisions in ask.decisions
    ]


def explained(report: Report, ask: Ask) -> list[str]:
    """`release=2.7.2: nothing to write`, one an answer; the library's defaults are marked."""
    return [
        f"{_answer_text(ask, answer)}: {outcome}"
        for answer, outcome in zip(ask.answers, outcomes(report, ask), strict=False)
    ]


def _answer_text(ask: Ask, answer: Answer) -> str:
    """Options and values, each with a mark where the library takes it if nothing is set."""
    return ", ".join(
        f"{name}={value}{' (the default)' if value == ask.defaults.get(name) else ''}"
        for name, value in answer
    )


def _outcome(report: Report, decision: Decision) -> str:
    match decision:
        case Plan(steps):
            done = "; ".join(phrases(changes(report, steps), verbose=False))
            return shortened(", ".join([done, *_costs(decision)]))
        case Nothing(residuals) if residuals:
            left = shards(dict.fromkeys(residual.shard for residual in residuals))
            why = residuals[0].why or f"the fix {cost(residuals[0].costs)}"
            return f"leaves {left} alone: {why}"
        case Nothing():
            return "nothing to write"
        case NoSafePlan(why):
            return f"no plan: {cut(shortened(why), LONGEST)}"
        case Ask() as ask:
            return f"asks for {ask.named}"


def _costs(decided: Plan) -> list[str]:
    left = [e for run in decided.after for e in run if not (e.gone or e.past)]
    kinds = (("skips", Harm.SKIPPED), ("re-reads", Harm.REREAD))
    costs = [
        f"{word} {broadest(of_kind)}" for word, harm in kinds
        if (of_kind := _of(left, decided.costs, harm))
    ]
    return [*costs, "out of order"] if any(disorders(e) for e in left) else costs


def _of(left: Sequence[Effect], policy: Sequence[Effect], harm: Harm) -> list[Effect]:
    return [e for e in (*left, *policy) if e.harm is harm]


def answers(report: Report, ask: Ask, suggested_command: Sequence[str]) -> list[list[str]]:
    """The arguments with each answer in them: in the locator, or as `--recreated TIME`."""
    if ask.options == ("recreated",):
        return [[*suggested_command, "--recreated", answer[0][1]] for answer in ask.answers]
    text = report.snapshot.locator.text
    return [
        [told(text, answer) if word == text else word for word in suggested_command]
        for answer in ask.answers
    ]
