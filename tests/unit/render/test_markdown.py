"""The runbook, parsed as GitHub-flavoured Markdown.

CommonMark and the tables of GFM by markdown-it-py, whose tables follow GFM section 4.10. A task is
a list item whose paragraph begins with `[ ] ` (GFM section 5.3).
"""

from __future__ import annotations

import re
import shlex
from functools import cache

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reshardctl.errors import HalfDone, StalePlan
from reshardctl.lineage import parse_reshard
from reshardctl.planning.plan import Ask, Plan
from reshardctl.render.context import Context
from reshardctl.render.markdown_words import code, prose
from reshardctl.report.changes import changes
from reshardctl.report.forecast import forecast
from reshardctl.report.results import Fixed, Saved, Undoing
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import by_name, context, report_of, then
from tests.unit.render.test_hostile import HOSTILE, a_third, infested

MARKDOWN = FORMATS["markdown"]
OPTIONS = "initial=LATEST&release=3.5.1"
GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tables(text: str) -> list[list[list[str]]]:
    """Every table as rows of cells, each cell its visible text."""
    found: list[list[list[str]]] = []
    for token, inline in _pairs(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append(visible(inline))
    return found


def tasks(text: str) -> list[str]:
    """What the numbered list asks for, boxes taken off; fails for an item without a box."""
    said = []
    tokens = GFM.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "list_item_open" and token.markup == ".":
            words = visible(tokens[place + 2])
            assert words.startswith("[ ] "), words
            said.append(words[4:])
    return said


def commands(text: str) -> list[list[str]]:
    """Every fenced block, split as a shell splits it."""
    return [shlex.split(t.content) for t in GFM.parse(text) if t.type == "fence"]


def visible(inline: Token) -> str:
    return "".join(t.content for t in inline.children or ())


def _pairs(text: str) -> list[tuple[Token, Token]]:
    tokens = GFM.parse(text)
    return list(zip(tokens, [*tokens[1:], tokens[-1]], strict=True))


@by_name
def test_a_runbook_has_its_tables_and_its_tasks(name):
    report = report_of(name, "release=3.5.1")
    shown = MARKDOWN.inspect(report, context(report))
    facts, *others = tables(shown)
    assert ["stream", report.snapshot.lineage.stream.arn] in facts
    listed = others.pop(0)[1:] if report.findings else []
    assert [row[:2] for row in listed] == [
        [str(f.severity), f"{f.code} {f.name}"] for f in report.findings
    ]
    planned = isinstance(report.decision, Plan)
    assert len(others) == planned
    assert tasks(shown)[-1] == "Inspect again."
    assert any(task.startswith("Apply the plan, and") for task in tasks(shown)) == planned
    grave = {f.code for f in report.findings if f.severity > 1}
    assert {c[2] for c in commands(shown) if c[:2] == ["reshardctl", "rule"]} == grave


@by_name
def test_before_and_after_are_the_writes_of_the_plan(name):
    report = report_of(name, OPTIONS)
    if not isinstance(report.decision, Plan):
        return
    rows = tables(MARKDOWN.inspect(report, context(report)))[-1]
    assert rows[0] == ["row", "", "now", "after", "why", "skips", "re-reads"]
    assert [row[:4] for row in rows[1:]] == [
        [one.shard, str(one.action), one.now or "–", one.after or "–"]
        for one in changes(report, report.decision.steps)
    ]


def test_the_commands_are_filled_in():
    report = report_of("a-both", OPTIONS)
    place = f"kcl://orders-app?{OPTIONS}"
    again = (place, "--stream", "orders", "--region", "eu-west-1")
    shown = MARKDOWN.inspect(report, Context(again))
    ours = [words[1:] for words in commands(shown) if words[0] == "reshardctl"]
    assert ours == [
        ["rule", "RSH203"],
        ["fix", "--dry-run", "--out", "orders-app.plan", *again],
        ["fix", "--plan", "orders-app.plan", "--region", "eu-west-1"],
        ["undo", "--list"],
        ["fix", "--resume", "JOURNAL", "--region", "eu-west-1"],
        ["undo", "JOURNAL", "--region", "eu-west-1"],
        ["inspect", *again, "--watch", "60s"],
        ["inspect", *again],
        ["undo", "JOURNAL", "--region", "eu-west-1"],
        ["undo", "orders-app.plan", "--region", "eu-west-1"],
    ]
    theirs = [words for words in commands(shown) if words[:2] == ["aws", "dynamodb"]]
    assert theirs == [[
        "aws", "dynamodb", "create-backup", "--table-name", "orders-app", "--backup-name",
        "orders-app-before-fix", "--region", "us-east-1",
    ]]


def test_the_last_look_is_at_all_of_the_consumer():
    """No `inspect` has --set or --shift, and one of a part would not see what remains elsewhere."""
    report = report_of("a-both", OPTIONS)
    part = ("--set", "3=TRIM_HORIZON", "--shift=-10m", "--rule", "RSH203", "--shards=2")
    again = ("kcl://orders-app", "--stream", "orders")
    shown = MARKDOWN.inspect(report, Context((*again, *part, "--region", "eu-west-1")))
    looks = [words for words in commands(shown) if words[:2] == ["reshardctl", "inspect"]]
    whole = ["reshardctl", "inspect", *again, "--region", "eu-west-1"]
    assert looks == [[*whole, "--watch", "60s"], whole]


def test_the_steps_are_in_their_order():
    """Look, buy time, stop, keep, see, apply, start, watch, look again: docs/runbook.md."""
    report = report_of("a-both", OPTIONS)
    starts = [task.split()[0] for task in tasks(MARKDOWN.inspect(report, context(report)))]
    assert starts == ["Read", "Only", "Stop", "Back", "Save", "Apply", "Only", "Start",
                      "Once", "Inspect"]


def test_a_saved_plan_is_applied_and_not_made_again():
    report = report_of("a-both", OPTIONS)
    shown = MARKDOWN.plan(report, context(report), saved=Saved("my orders.plan", "0f" * 32))
    assert ["reshardctl", "fix", "--plan", "my orders.plan"] in commands(shown)
    assert not any("--out" in words for words in commands(shown))
    assert "Nothing was written." in shown
    before = MARKDOWN.plan(report, context(report), dry_run=False)
    assert "Nothing was written." not in before


@pytest.mark.parametrize("name", ["a-both", "healthy-roots"])
def test_before_a_reshard_nothing_is_applied(name):
    """A plan over shards that nobody has made yet: docs/preflight.md."""
    report = forecast(report_of(name, OPTIONS), [parse_reshard("split=1")])
    shown = MARKDOWN.inspect(report, Context(("kcl://orders-app", "--stream", "orders")))
    grave = dict.fromkeys(f.code for f in report.findings if f.severity > 1)
    assert tasks(shown)[-2:] == [
        "List the findings that exist without the reshard, and fix them first.",
        "Reshard the stream; --wait waits until that is complete.",
    ]
    assert tasks(shown)[0].startswith("Read what the findings mean.") == bool(grave)
    now = ["reshardctl", "inspect", "kcl://orders-app", "--stream", "orders"]
    assert [words for words in commands(shown) if words[0] == "reshardctl"] == [
        *(["reshardctl", "rule", one] for one in grave), now, [*now, "--wait", "15m"],
    ]


def test_what_has_to_be_known_is_asked():
    report = report_of("full-trimmed-parent-timestamp", "initial=LATEST")
    assert isinstance(report.decision, Ask)
    shown = MARKDOWN.inspect(report, context(report))
    asked = [words[3] for words in commands(shown) if words[:2] == ["reshardctl", "fix"]]
    place = "kcl://orders-app?initial=LATEST"
    assert asked == [f"{place}&release={one}" for one in ("3.5.1", "2.2.11")]
    assert "With release=1.15.3, 2.7.2 or 3.5.1: set 0" in re.sub(r"[`\\]", "", shown)


def test_ways_out_and_residuals():
    report = report_of("foreign-rows", "release=2.7.2")
    shown = tasks(MARKDOWN.inspect(report, context(report)))
    assert any("KCL 2.7.2 crashes on the rows" in task for task in shown)
    assert any(task.startswith("Way out: Start the application with KCL 3.5") for task in shown)
    left = report_of("h-long", OPTIONS)
    said = commands(MARKDOWN.inspect(left, context(left)))
    assert any(words[-2:] == ["--accept", "reread=3h30m"] for words in said)


def test_outcomes():
    report = report_of("a-both", OPTIONS)
    after, steps = then(report), report.decision.steps
    fixed = MARKDOWN.fixed(Fixed(report, after, steps, "/j", 1), context(report))
    assert [row[2:] for row in tables(fixed)[0][1:]] == [["–", "TRIM_HORIZON"]] * 2
    assert ["reshardctl", "undo", "/j"] in commands(fixed)
    dry = MARKDOWN.undo(Undoing(report, after, steps, "/j"), context(report))
    assert "nothing was written" in dry and ["reshardctl", "undo", "/j"] in commands(dry)
    done = MARKDOWN.undo(Undoing(report, None, steps, "/j", 1), context(report))
    assert "The store holds no position." in done
    assert "nothing was written" not in done and ["reshardctl", "undo", "/j"] not in commands(done)


def test_failures():
    assert MARKDOWN.error(StalePlan("a `row` moved", "plan again"), Context()) == (
        "**Refused:** a `\\x60row\\x60` moved\n\nNext: plan again\n"
    )
    assert "Journal: `/j`" in MARKDOWN.error(HalfDone("stopped", "resume", "/j"), Context())


SLY = (
    "[x](https://evil.example)", "![x](https://evil.example/p.png)", "<script>x</script>", "<!-- x",
    "a|b|c", "`x` | `y`", "```\n# faked", "\n\n# faked\n", "**x** __y__ ~~z~~", "@everyone", "#1",
    "https://evil.example", "www.evil.example", ":warning:", ":+1:", "$\\frac{a}{b}$", "&lt;",
    "\\", "\\|", "- [x] done", "`", "``` ````", "(@a)", "x,@a",
)


@pytest.mark.parametrize("text", (*SLY, *HOSTILE), ids=lambda t: ascii(t[:40]))
def test_no_row_makes_markdown(text):
    """The same blocks as of any other text, no mark-up in it, and nothing for GitHub to link."""
    compared = 0
    for place, items in a_third(infested(text), (*SLY, *HOSTILE).index(text)):
        one, other = skeletons(items), usual_skeletons()[place]
        if one and other and len(one) == len(other):
            assert one == other
            compared += 1
    assert compared


@cache
def usual_skeletons() -> list[list[str]]:
    return [skeletons(items) for items in infested("plain")]


LIVELY = re.compile(r"[@<>$&|\\]|://|www\.|:(?!\d\d:)[\w+-]+:|#\d")
"""What GitHub makes something of in plain text; `:00:` of a time is no emoji."""


def skeletons(items: list[dict]) -> list[str]:
    """The kinds of all blocks; checks what stands in them on the way."""
    from reshardctl.errors import ReshardError

    try:
        report = report_of("a-both", OPTIONS, items=items)
    except ReshardError as error:
        shown = MARKDOWN.error(error, Context())
    else:
        shown = MARKDOWN.inspect(report, context(report, verbose=True))
    tokens = GFM.parse(shown)
    inner = [t for token in tokens for t in token.children or ()]
    assert {t.type for t in inner} <= {"text", "code_inline", "strong_open", "strong_close"}
    for t in inner:
        if t.type == "text":
            assert not LIVELY.search(t.content), t.content
    for line in shown.split("\n"):
        if line.startswith("| "):
            assert line.count("|") in (3, 7, 8)
    return [token.type for token in tokens]


@pytest.mark.parametrize("raw,shown", [
    ("start 2, 3 at TRIM_HORIZON", "start 2, 3 at `TRIM_HORIZON`"),
    ("(SHARD_END), then", "(`SHARD_END`), then"),
    ("see https://x.example.", "see `https://x.example`."),
    ("plain words – ≤ 12m, 4963…9874", "plain words – ≤ 12m, 4963…9874"),
    ("a | b", "a `\\x7c` b"), ("@", "`@`"), ("", ""), ("(", "("), ("`", "`\\x60`"),
])
def test_prose(raw, shown):
    assert prose(raw) == shown


def test_code():
    assert [code(""), code(" "), code("a`|b")] == ["–", "–", "`a\\x60\\x7cb`"]


def test_nothing_in_a_command_ends_its_fence():
    report = report_of("a-both", OPTIONS)
    again = ("kcl://orders-app", "--stream", "```` x\n```")
    shown = MARKDOWN.inspect(report, Context(again))
    *_, words = [c for c in commands(shown) if c[:2] == ["reshardctl", "inspect"]]
    assert words[-1] == "```` x\\n```"
