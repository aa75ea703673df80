"""What the program says, as digests: a change of structure must not change a line of it.

Every case becomes a snapshot file, made once. Each command is then run on each of them in this
process, in every format, and so is the help of each command and a number of wrong command lines.
A manifest holds a line for each run: its digest, its exit code, and what was run.

    python -m tests.support.net make FOLDER               # the snapshots, before the work begins
    python -m tests.support.net write FOLDER MANIFEST     # runs everything
    python -m tests.support.net compare FOLDER MANIFEST   # runs everything; prints what differs
    python -m tests.support.net compare FOLDER MANIFEST --part 3/8    # an eighth of it
    python -m tests.support.net show FOLDER RUN           # what one run prints

It serves the restructuring of the package, and goes when that is done.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from urllib.parse import quote

FOLDERS = (
    "incidents", "kcl", "kcl-tables", "kinesis-consumer", "kinsumer", "quickwit", "rules", "spark",
)
LOCATORS = {
    "kcl": "kcl://app",
    "kinsumer": "kinsumer://app",
    "kinesis-consumer": "kinesis-consumer+ddb://positions",
    "quickwit": "quickwit+file:///indexes",
    "spark": "spark:/checkpoints/query",
}
OPTIONS = {"kinesis-consumer": {"app": "app"}, "quickwit": {"index": "events"}}
FORMATS = ("text", "concise", "json", "jsonl", "markdown", "github", "junit", "sarif")
PLANNED = (*FORMATS, "diff")
VERBS = (
    *(f"inspect CASE --format {form}" for form in FORMATS),
    "inspect CASE --format openmetrics",
    "inspect CASE --format text --verbose",
    "inspect CASE --format text --verbose [COLUMNS=60]",
    "inspect CASE --format text --color always",
    "inspect CASE --format text [PYTHONIOENCODING=ascii]",
    "inspect CASE --format text --if-reshard split=shardId-000000000000",
    *(f"fix CASE --dry-run --format {form}" for form in PLANNED),
    "fix CASE --dry-run --format text --verbose [COLUMNS=60]",
    "fix CASE --dry-run --policy latest-at-start --format text",
    "fix CASE --dry-run --bootstrap --format text",
    "fix CASE --dry-run --accept skip=100d,reread=100d,disorder --format json",
    *(f"fix CASE --dry-run --shards {shard} --format json" for shard in range(4)),
    "fix CASE --dry-run --shift -1h --format json",
    "fix CASE --dry-run --set 0=TRIM_HORIZON --format text",
    *(f"status CASE --format {form}" for form in ("text", "json", "jsonl", "openmetrics")),
    "status CASE --format text [COLUMNS=60]",
    *(f"explain CASE {shard} --format {form}" for shard in (0, 2) for form in ("text", "json")),
    "export CASE", "export CASE --format csv",
    *(f"graph CASE --format {form}" for form in
      ("text", "svg", "html", "dot", "mermaid", "graphml", "json")),
    "graph CASE --format text [COLUMNS=60]",
)
"""`[NAME=VALUE]` is set in the environment of that run."""
COMMANDS = (
    "inspect", "status", "fix", "audit", "rebuild", "undo", "graph", "explain", "export",
    "discover", "snapshot", "rule", "demo", "config", "config check", "config iam",
)
WRONG = (
    "inspect", "inspect nothing", "inspect kcl://app", "inspect kcl://a/b --stream s",
    "inspect kcl://app --stream s --format nothing", "inspect CASE --stream s",
    "inspect CASE --every 1m --wait", "inspect CASE --shards 99", "inspect CASE --rule RSH999",
    "fix CASE --yes --dry-run", "fix CASE --plan PLAN", "fix --plan ABSENT", "fix --resume ABSENT",
    "fix CASE --set 0=nothing --dry-run", "fix CASE --set 0=LATEST --shift -1h --dry-run",
    "fix CASE --accept nothing", "fix CASE --policy nothing", "fix CASE --shift 1h --dry-run",
    "fix CASE --out ABSENT/x/y", "fix CASE --yes", "fix CASE --live --assume-stopped --yes",
    "undo", "undo ABSENT", "undo --list ABSENT", "undo --prune 1d ABSENT", "status nothing",
    "explain CASE", "explain CASE 99", "export CASE --format nothing", "graph CASE --format no",
    "discover --stream s x", "snapshot", "rule RSH203", "rule RSH999", "rule", "rebuild CASE",
    "audit", "audit ABSENT", "config check ABSENT", "--version", "nothing", "inspct CASE",
    "inspect ABSENT.json", "inspect snapshot:ABSENT", "inspect CASE CASE --format text",
    "fix CASE CASE --dry-run --format json", "inspect spark:ABSENT --stream s",
)


def make(folder: Path) -> None:
    """A snapshot file for each case and each of its first expectation's start modes."""
    from reshardctl.consumers.locator import parse
    from reshardctl.diagnosis.evidence import Snapshot
    from reshardctl.snapshot.file import SavedSnapshot, text
    from tests.support.case import all_cases
    from tests.support.dialects import dialect_of
    from tests.support.judging import Bench, options_of

    folder.mkdir(parents=True, exist_ok=True)
    for kind in FOLDERS:
        for case in all_cases(kind):
            expect = case.expects[0]
            options = {
                **OPTIONS.get(case.consumer, {}),
                **options_of(case, expect.initial[0], expect.releases[-1]), **expect.options,
            }
            words = "&".join(f"{name}={quote(value)}" for name, value in options.items())
            locator = f"{LOCATORS[case.consumer]}?{words}" if words else LOCATORS[case.consumer]
            images = dialect_of(case.consumer).images(case)
            bench = Bench.on(case, images, options)
            store = {"medium": "dynamodb", "arn": "arn:aws:dynamodb:us-east-1:123456789012:table/x"}
            state = bench.plan_case.state
            one = Snapshot(
                parse(locator), state.lineage, tuple(images), store, float(case.now),
                asked=dict(state.lineage.taken),
            )
            saved = SavedSnapshot(one.now, one.lineage, (one,))
            (folder / f"{kind}.{case.name}.json").write_text(text(saved), encoding="utf-8")


def runs(folder: Path) -> list[str]:
    """Every run, as a command line with CASE replaced by the name of its file."""
    found = [f"{command} --help" for command in COMMANDS] + ["--help"]
    cases = sorted(path.name for path in folder.glob("*.json"))
    found += [wrong.replace("CASE", cases[0]) for wrong in WRONG]
    found += [verb.replace("CASE", case) for case in cases for verb in VERBS]
    return found


def told(folder: Path, run: str) -> str:
    """What a run prints, and its exit code; the plan that it saves, besides."""
    from reshardctl.cli.app import run as started

    words, environment = [], {"COLUMNS": "100", "NO_COLOR": ""}
    with tempfile.TemporaryDirectory(prefix="net-") as scratch:
        plan = Path(scratch, "plan.json")
        for word in shlex.split(run):
            if word.startswith("["):
                name, _, value = word[1:-1].partition("=")
                environment[name] = value
            elif word == "PLAN":
                words.append(str(plan))
            elif word.endswith(".json") and (folder / word).exists():
                words.append(f"snapshot:{folder / word}")
            else:
                words.append(word)
        before, out, err = dict(os.environ), _Stream(), _Stream()
        os.environ.update(environment)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code: object = _exit(started, words)
        finally:
            os.environ.clear()
            os.environ.update(before)
        saved = plan.read_text(encoding="utf-8") if plan.exists() else ""
        text = f"exit {code}\n{out.text()}\n--- stderr\n{err.text()}\n--- plan\n{saved}"
        return text.replace(str(folder), "FOLDER").replace(scratch, "SCRATCH")


class _Stream(io.TextIOWrapper):
    """Takes bytes and text, as the real ones do."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True)

    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8", errors="replace")

    def fileno(self) -> int:
        raise io.UnsupportedOperation


def _exit(started: object, words: Sequence[str]) -> object:
    assert callable(started)
    try:
        return started(list(words))
    except SystemExit as ended:
        return ended.code
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def line(folder: Path, run: str) -> str:
    """A line of the manifest."""
    text = told(folder, run)
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    code = text.partition("\n")[0].removeprefix("exit ")
    return f"{digest} {code[:40]!s} {run}"


def lines(folder: Path, part: tuple[int, int]) -> Iterator[str]:
    """The manifest, in as many processes as there are cores."""
    number, of = part
    wanted = runs(folder)[number - 1 :: of]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(partial(line, folder), wanted, chunksize=20)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("make", "write", "compare", "show"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("rest", nargs="?")
    parser.add_argument("--part", default="1/1")
    given = parser.parse_args(argv)
    folder = given.folder.resolve()
    number, _, of = given.part.partition("/")
    if given.verb == "make":
        make(folder)
    elif given.verb == "show":
        print(told(folder, given.rest))
    elif given.verb == "write":
        found = lines(folder, (int(number), int(of)))
        Path(given.rest).write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
    else:
        kept = {each.split(" ", 2)[2]: each for each in Path(given.rest).read_text().splitlines()}
        wrong = [
            each for each in lines(folder, (int(number), int(of)))
            if kept.get(each.split(" ", 2)[2]) != each
        ]
        print("\n".join(wrong[:60]) + f"\n{len(wrong)} of {len(kept)} differ")
        return 1 if wrong else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
