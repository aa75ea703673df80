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
COUNTED = ("cases", "observed", "repaired", "undone")
HEAD = """## Evidence in figures

### By library and release

"Cases" are the case files that name the release, "observed" starts of the real library on the
unrepaired store, "repaired" and "undone" those after the repair and after its undo. A test compares
every start with its forecast, record by record.
"""
RANDOM = """
### Random states

A seed draws a stream, a store and a damage ([the harness](../tests/proof/drawn/README.md)). A
violation is a wrong forecast, a loss that the report does not name, or a repair that is not what
the plan says. Seeds "held back" were first run after everything was mended.
`scripts/prove differential FAMILY --seeds 41-41` draws one state again.
"""
JUDGED_BY = (
    ("reference consumers, of every library", ("all ", "reference-", "6 families reference-")),
    ("KCL 1.15.3 to 3.5.1", ("kcl-",)),
    ("kinesis-consumer on DynamoDB, Redis, PostgreSQL, MySQL", ("kinesis-consumer-",)),
    ("kinsumer", ("kinsumer",)),
    ("Telegraf 1.34, 1.39", ("telegraf-",)),
    ("Spark with Qubole's connector", ("qubole",)),
)
"""What judged the states of a run, and how the names of its families begin."""
RECORDED = """
### Recorded starts of the real KCL
"""


@dataclass
class Row:
    """What there is for one release. starts: of the real library, by state of the store."""

    cases: set[str] = field(default_factory=set)
    starts: Counter[str] = field(default_factory=Counter)


def rows(library: str) -> dict[str, Row]:
    """The rows of a library, by release."""
    found: dict[str, Row] = {}
    for case in (case for folder in FOLDERS[library] for case in all_cases(folder)):
        for release in _expected(case):
            found.setdefault(release, Row()).cases.add(case.name)
    for release, state in _started(library):
        found.setdefault(release, Row()).starts[state] += 1
    return dict(sorted(found.items(), key=lambda entry: _natural(entry[0])))


def _expected(case: Case) -> set[str]:
    """The releases of which a case says what is expected."""
    releases = {release for expect in case.expects for release in expect.releases}
    also = case.consumer == "kcl" and case.name in AS_3_5_1 and "3.5.1" in releases
    return releases | {"3.1.3"} if also else releases


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
    figures = "\n".join([HEAD, *_releases(), RANDOM, *_random(), RECORDED, *_recorded(), ""])
    return between_comments(PAGE, "evidence", figures)


def _releases() -> Iterator[str]:
    yield _table("release", *COUNTED, "executed")
    missing, total = not_started(), Counter[str]()
    for library in FOLDERS:
        for release, row in rows(library).items():
            total.update(cases=len(row.cases), **row.starts)
            counts = (len(row.cases), *(row.starts[state] for state in COUNTED[1:]))
            executed = _executed(missing.get(library, {}).get(release))
            yield _row(f"{library} {release}", *map(_figure, counts), executed)
    yield _row("**total**", *(_figure(total[name]) for name in COUNTED), "")
    files = {case.path for folders in FOLDERS.values() for f in folders for case in all_cases(f)}
    yield (
        f"\nA case counts for each release that it names; there are {len(files)} case files.\n"
        "`tests/proof/libraries/run -k 3.5.1/a-both` repeats the starts of one case,\n"
        "`-k test_kcl.py` those of a library."
    )


def _executed(entry: dict[str, Any] | None) -> str:
    """How a release was executed. entry: of one that no test starts."""
    if entry is None:
        return "by tests"
    how = "**source only**" if entry["how"] == "source" else entry["how"]
    return f"{how}: {entry['what']}" if "what" in entry else how


def _random() -> Iterator[str]:
    yield _table("states judged by", "states", "of these held back", "violations")
    by_judge = {name: [run for run in runs() if run["family"].startswith(families)]
                for name, families in JUDGED_BY}
    assert sum(map(len, by_judge.values())) == len(runs()), "a family belongs to no judge"
    for name, its in [*by_judge.items(), ("**total**", runs())]:
        held = sum(run["states"] for run in its if run.get("held_back"))
        states, wrong = (sum(run[key] for run in its) for key in ("states", "violations"))
        yield _row(name, _figure(states), _figure(held), str(wrong))
    wrong = [run for run in runs() if run["violations"]]
    harness = sum(run["violations"] for run in wrong if run.get("in_harness"))
    yield f"\n{harness} violations were mistakes of the harness. The others:\n"
    yield from (f"- {run['cause']}" for run in wrong if not run.get("in_harness"))


def _recorded() -> Iterator[str]:
    folders = (TESTS / "proof/libraries/recorded", TESTS / "proof/drawn/recorded")
    cases, drawn = ([record for path in sorted(folder.glob("*.jsonl")) for record in
                     _records(path)] for folder in folders)
    stores = {record["start"].partition("/")[0] for record in drawn}
    crashed = sum(record["died"] for record in [*cases, *drawn])
    yield (
        f"{_figure(len(cases))} starts on the stores of cases and {_figure(len(drawn))} on "
        f"{_figure(len(stores))} drawn stores are on\nrecord; {_figure(crashed)} of them crashed. "
        "A start on record is judged by its record; a sample\nof one in fifty is run again. Starts "
        "of other libraries are not recorded: the tests execute them."
    )


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
