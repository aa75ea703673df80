"""Write the figures of docs/evidence.md: what was executed of each library.

    .venv/bin/python -m scripts.pages evidence

It counts the cases, the checked-in lists of starts of the real libraries, the recorded starts, and
the totals of differential runs (tests/proof/drawn/totals.toml).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.pages import between_comments
from tests.proof.libraries.kcl.situations import AS_3_5_1
from tests.support.case import Case, all_cases

ROOT = Path(__file__).parents[2]

PAGE = ROOT / "docs" / "evidence.md"
TESTS = ROOT / "tests"
FOLDERS = {
    "kcl": ("kcl", "kcl-tables"),
    "kinesis-consumer": ("kinesis-consumer",),
    "kinsumer": ("kinsumer",),
    "quickwit": ("quickwit",),
    "spark": ("spark",),
}
COMMANDS = {
    "kcl": "tests/proof/libraries/run -k test_kcl.py",
    "kinesis-consumer":
        "tests/proof/libraries/run -k 'test_kinesis_consumer_go or test_telegraf_go'",
    "kinsumer": "tests/proof/libraries/run -k test_kinsumer_go",
    "quickwit": "scripts/test tests/proof/reference tests/whole/test_cases_dialects.py",
    "spark": "tests/proof/libraries/run -k test_spark",
}
SPARK = {
    "qubole": "qubole-1.2.0_spark-3.0",
    "lineage": "kinesis-lineage",
    "dstreams": "DStreams (KCL 1.x table)",
}
GO = {
    "kinesis-consumer": ("kinesis-consumer", "0.5.0"),
    "kinsumer": ("kinsumer", "snowplow-1.7"),
    "telegraf-1.34": ("kinesis-consumer", "telegraf-1.34"),
    "telegraf-1.39": ("kinesis-consumer", "telegraf-1.39"),
}
"""How a listed start begins, the library in this table, and the release."""
HEAD = """## Evidence in figures

### By library and release

| column | what it counts |
|---|---|
| cases | case files that name the release; "damaged" are those with a finding, a plan or a crash |
| forecasts | starts that a case forecasts: one for each initial position |
| observed | such starts, executed with the real library on the unrepaired store |
| repaired | starts of the real library after the repair |
| undone | starts of the real library after the repair was undone |

A test compares every start with its forecast, record by record. A start counts again for each store
(DynamoDB, Redis, PostgreSQL, MySQL) and beside other streams of its table, so "observed" can exceed
"forecasts". Starts after a repair that is wrong on purpose are not counted.
"""
READ = """
### Not started by a test

The reference consumer executes the cases of these releases, but no test starts the library itself.
What [was read and never executed](#read-and-never-executed) beside them stands there.
"""
RANDOM = """
### Random states

A seed draws a stream, a store and a damage ([the harness](../tests/proof/drawn/README.md)). A
violation is a wrong forecast, a loss that the report does not name, or a repair that is not what
the plan says. Seeds "held back" were first run after everything was mended. One state again:
`scripts/prove differential FAMILY --seeds 41-41`.
"""
RECORDED = """
### Recorded starts of the real KCL

A start on record is judged by its record; a sample of one in fifty is run again. "Cases" are
starts on the stores of cases, "random" those on drawn stores. Starts of the Go libraries and of
Spark are not recorded: the tests execute them at every run.
"""


@dataclass
class Row:
    """What there is for one release. starts: of the real library, by state of the store."""

    cases: set[str] = field(default_factory=set)
    damaged: set[str] = field(default_factory=set)
    forecasts: int = 0
    starts: Counter[str] = field(default_factory=Counter)


def rows(library: str) -> dict[str, Row]:
    """The rows of a library, by release."""
    found: dict[str, Row] = {}
    for case in (case for folder in FOLDERS[library] for case in all_cases(folder)):
        for release, initials, damaged in _expected(case):
            row = found.setdefault(release, Row())
            row.cases.add(case.name)
            row.forecasts += initials
            if damaged:
                row.damaged.add(case.name)
    for release, state in _started(library):
        found.setdefault(release, Row()).starts[state] += 1
    return dict(sorted(found.items(), key=lambda entry: _natural(entry[0])))


def _expected(case: Case) -> Iterator[tuple[str, int, bool]]:
    """Release, number of initial positions, and whether something is wrong there."""
    for expect in case.expects:
        releases = set(expect.releases)
        if case.consumer == "kcl" and case.name in AS_3_5_1 and "3.5.1" in releases:
            releases.add("3.1.3")
        writes = expect.fixed is not None and bool(expect.fixed.writes)
        for release in releases:
            yield release, len(expect.initial), bool(expect.findings or expect.dies or writes)


def _started(library: str) -> Iterator[tuple[str, str]]:
    """Release and state of the store, "observed" where it is unrepaired, of each listed start."""
    if library == "kcl":
        for line in _lines(TESTS / "proof/libraries/kcl/executed.txt"):
            yield line.partition("/")[0], _state(line.rpartition("/")[2])
    elif library in {name for name, _ in GO.values()}:
        for line in _lines(TESTS / "proof/libraries/go/executed.txt"):
            name, release = GO[line.partition("/")[0]]
            if name == library:
                yield release, _state(line.rpartition("/")[2])
    elif library == "spark":
        for line in _lines(TESTS / "proof/libraries/spark/executed.txt"):
            yield SPARK[line.partition(" ")[0]], _state(line)


def _state(text: str) -> str:
    for state in ("undone", "robbed"):
        if state in text:
            return state
    return "repaired" if re.search(r"\b(repaired|fixed)\b", text) else "observed"


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def not_started() -> dict[str, dict[str, Any]]:
    """Releases that have cases and that no test starts: library → release → how and what."""
    text = (TESTS / "proof/libraries/not_started.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def runs() -> list[dict[str, Any]]:
    """The differential runs of which totals are kept."""
    text = (TESTS / "proof/drawn/totals.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["run"])


def page() -> str:
    """The whole page."""
    executed = [HEAD, *_releases(), READ, *_without_starts()]
    figures = "\n".join([*executed, RANDOM, *_random(), RECORDED, *_recorded(), ""])
    return between_comments(PAGE, "evidence", figures)


def _releases() -> Iterator[str]:
    yield _table("library", "release", "cases", "damaged", "forecasts", "observed", "repaired",
                 "undone", "executed")
    missing, total = not_started(), Counter[str]()
    for library in FOLDERS:
        for release, row in rows(library).items():
            counts = {
                "cases": len(row.cases), "damaged": len(row.damaged), "forecasts": row.forecasts,
                "observed": row.starts["observed"], "repaired": row.starts["repaired"],
                "undone": row.starts["undone"],
            }
            total.update(counts)
            executed = missing.get(library, {}).get(release, {"how": "by the tests"})["how"]
            executed = "**source only**" if executed == "source" else executed
            yield _row(library, release, *(_figure(count) for count in counts.values()), executed)
    names = ("cases", "damaged", "forecasts", "observed", "repaired", "undone")
    yield _row("**total**", "", *(_figure(total[name]) for name in names), "")
    files = {case.path for folders in FOLDERS.values() for f in folders for case in all_cases(f)}
    yield f"\nA case counts for each release that it names; there are {len(files)} case files.\n"
    yield _table("library", "the command that repeats its starts")
    yield from (_row(library, f"`{command}`") for library, command in COMMANDS.items())
    yield "\n`-k \"3.5.1/a-both\"` instead of a file's name repeats the starts of one case."


def _without_starts() -> Iterator[str]:
    yield _table("library", "release", "what was executed")
    for library, releases in not_started().items():
        for release, entry in releases.items():
            yield _row(library, release, entry["what"])


def _random() -> Iterator[str]:
    yield _table("family", "seeds", "held back", "states", "violations", "")
    total: Counter[str] = Counter()
    for run in runs():
        total.update({"states": run["states"], "violations": run["violations"]})
        held = "yes" if run.get("held_back") else ""
        yield _row(run["family"], run["seeds"].replace("-", "–"), held, _figure(run["states"]),
                   str(run["violations"]), run.get("cause", ""))
    yield _row("**total**", "", "", _figure(total["states"]), str(total["violations"]), "")
    yield (
        "\nA row of all families is one run; the other rows are of earlier code, or of "
        "families that were new."
    )


def _recorded() -> Iterator[str]:
    yield _table("release", "cases: starts", "random: starts", "random: stores", "of these crashed")
    total: Counter[str] = Counter()
    folders = (TESTS / "proof/libraries/recorded", TESTS / "proof/drawn/recorded")
    names = sorted({path.stem for folder in folders for path in folder.glob("*.jsonl")})
    for name in names:
        cases, drawn = (_records(folder / f"{name}.jsonl") for folder in folders)
        counts = {
            "cases": len(cases), "random": len(drawn),
            "stores": len({record["start"].partition("/")[0] for record in drawn}),
            "died": sum(record["died"] for record in drawn),
        }
        total.update(counts)
        yield _row(name, *(_figure(count) for count in counts.values()))
    yield _row("**total**", *(_figure(total[key]) for key in ("cases", "random", "stores", "died")))


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _lines(path)] if path.exists() else []


def _table(*names: str) -> str:
    return f"{_row(*names)}\n|{'---|' * len(names)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _figure(count: int) -> str:
    return f"{count:,}" if count else ""


def _natural(text: str) -> list[tuple[int, str]]:
    parts = re.findall(r"\d+|\D+", text)
    return [(int(p), "") if p.isdigit() else (-1, p) for p in parts]
