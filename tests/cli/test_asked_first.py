"""A journal or a plan that was not made here: nothing is called before somebody agrees to it.

Whoever makes such a file chooses the host that a password and signed calls go to. Issue 33, F1:
what it will write, and where, is shown and asked about before anything else.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.commands.fix import fix
from reshardctl.commands.observer import Observer
from reshardctl.commands.write_requests import FixRequest
from reshardctl.errors import NotConfirmed
from reshardctl.execution import plan_file
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.report.results import Elsewhere
from tests.cli.lab import Lab, Result
from tests.cli.test_bad_input import several_steps
from tests.cli.test_consent import flat
from tests.cli.test_from_elsewhere import half_done

ASKED = "was not made here"


@pytest.fixture
def moved(lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Makes this another machine, which knows nothing of what was made before."""

    def move() -> None:
        lab.state = tmp_path / "of another machine"
        monkeypatch.setenv("RESHARDCTL_STATE_DIR", str(lab.state))

    return move


@pytest.fixture
def plan(lab: Lab, tmp_path: Path) -> Path:
    path = tmp_path / "app.plan"
    assert lab.dry("--created", lab.created, "--out", path).code == 1
    return path


@pytest.fixture
def journal(lab: Lab, tmp_path: Path) -> Path:
    """Of a fix that was verified, outside of the usual place."""
    path = tmp_path / "app.jsonl"
    assert lab.fix("--created", lab.created, "--journal", path).code == 0
    return path


def unasked(lab: Lab, *words: str | Path) -> Result:
    """A command that shows what the file would write, and calls nothing as nobody agrees."""
    calls, rows = len(lab.wire.calls), lab.items()
    result = lab.cli(*words)
    assert result.code == 4, result
    shown = flat(result.err)
    assert ASKED in shown and "refused: there is no terminal to ask at" in shown
    assert lab.locator in shown and "stream/orders" in shown and "shardId-000000000002" in shown
    assert len(lab.wire.calls) == calls and lab.items() == rows
    return result


def printed(result: Result) -> list[str]:
    return shlex.split(result.err.splitlines()[-1])[1:]


def test_a_plan_from_elsewhere(lab, plan, moved):
    moved()
    refused = unasked(lab, "fix", "--plan", plan, "--assume-stopped", "--created", lab.created)
    assert lab.journals() == []
    argv = printed(refused)
    assert argv[:3] == ["fix", "--plan", str(plan)] and "--yes" in argv
    done = lab.cli(*argv)
    assert done.code == 0, done
    assert ASKED in flat(done.err), "shown with --yes, too"


def test_a_plan_that_was_made_here_is_asked_about_once(lab, plan):
    asked = lab.cli("fix", "--plan", plan, "--assume-stopped", "--created", lab.created)
    assert asked.code == 4 and asked.says("there is no terminal to ask at")
    assert "Plan" in asked.out or "create" in asked.out


def test_a_plan_that_was_changed_here_is_not_made_here(lab, plan):
    other = replace(plan_file.load(plan), made=1.0)
    plan.write_text(plan_file.text(other))
    unasked(lab, "fix", "--plan", plan, "--assume-stopped", "--created", lab.created)


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_journal_from_elsewhere(lab, journal, moved, more):
    assert lab.cli("undo", journal, "--dry-run").code == 1, "its plan was made here"
    moved()
    refused = unasked(lab, "undo", journal, *more)
    argv = printed(refused)
    assert argv == ["undo", str(journal), *more, "--yes"]
    assert lab.cli(*argv, *(() if more else ("--assume-stopped",))).code == (1 if more else 0)


def test_a_plan_from_elsewhere_is_not_undone_either(lab, plan, moved):
    assert lab.apply(plan, "--created", lab.created).code == 0  # fmt: skip
    moved()
    unasked(lab, "undo", plan)


def test_the_rest_of_a_fix_from_elsewhere(lab_of, tmp_path, monkeypatch):
    lab, path = several_steps(lab_of), tmp_path / "half.jsonl"
    half_done(lab, lambda: lab.fix("--created", lab.created, "--journal", path).code)
    monkeypatch.setenv("RESHARDCTL_STATE_DIR", str(tmp_path / "other"))
    calls = len(lab.wire.calls)
    refused = lab.cli("fix", "--resume", path, "--assume-stopped")
    assert refused.code == 4 and ASKED in flat(refused.err) and len(lab.wire.calls) == calls
    assert printed(refused)[:3] == ["fix", "--resume", str(path)]
    assert lab.cli("undo", path, "--assume-stopped").code == 4 and len(lab.wire.calls) == calls


@pytest.mark.parametrize("mode", [0o777, 0o700])
def test_what_others_may_write_is_from_elsewhere(lab, mode):
    assert lab.fix("--created", lab.created).code == 0
    lab.state.chmod(mode)
    if mode == 0o777:
        unasked(lab, "undo", lab.journal())
    else:
        assert ASKED not in flat(lab.cli("undo", lab.journal(), "-n").err)


def test_a_link_in_the_usual_place_is_not_what_it_names(lab, journal, moved):
    moved()
    lab.state.mkdir(mode=0o700)
    (lab.state / "a.jsonl").symlink_to(journal)
    unasked(lab, "undo", "a")


def test_several_plans_from_elsewhere(lab, plan, moved, tmp_path):
    bodies = [json.loads(plan.read_text())] * 2
    path = tmp_path / "two.plan"
    whole = {"schema": "reshardctl/plans/1", "plans": bodies}
    path.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n")
    moved()
    unasked(lab, "fix", "--plan", path, "--assume-stopped", "--created", lab.created)


@contextmanager
def listening() -> Iterator[tuple[int, Callable[[], bool]]]:
    """A port of a stranger, and whether anybody has come there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)

        def came() -> bool:
            try:
                server.accept()[0].close()
            except BlockingIOError:
                return False
            return True

        yield server.getsockname()[1], came


LOCATORS = (
    "kinesis-consumer+redis://127.0.0.1:{port}/0?app=a&release=0.5",
    "kinesis-consumer+postgres://u@127.0.0.1:{port}/d?app=a&release=0.5",
    "kinesis-consumer+mysql://u@127.0.0.1:{port}/d?app=a&release=0.5",
    "quickwit+http://127.0.0.1:{port}?index=i&source=s&release=0.9",
    "quickwit+postgres://u@127.0.0.1:{port}/d?index=i&source=s&release=0.9",
)


@pytest.mark.parametrize("locator", LOCATORS)
@pytest.mark.parametrize("verb", [["fix", "--plan"], ["undo"], ["undo", "--dry-run"]])
def test_no_password_goes_to_a_host_that_a_stranger_names(lab, plan, moved, locator, verb):
    with listening() as (port, came):
        mine: SavedPlan = plan_file.load(plan)
        forged = replace(mine, locator=locator.format(port=port))
        plan.write_text(plan_file.text(forged))
        moved()
        refused = lab.cli(*verb, plan)
        assert refused.code == 4 and not came(), refused
        assert f"127.0.0.1:{port}" in refused.err


@pytest.mark.parametrize("answer", ["no", "", "yes"])
def test_at_a_terminal_the_answer_decides(lab, plan, tmp_path, answer):
    with listening() as (port, came):
        forged = replace(plan_file.load(plan), locator=LOCATORS[0].format(port=port))
        plan.write_text(plan_file.text(forged))
        state = str(tmp_path / "new")
        code, shown = lab.at_terminal(
            "undo", plan, "--dry-run", answer=f"{answer}\n", RESHARDCTL_STATE_DIR=state
        )
        assert ASKED in flat(shown) and shown.count("Only 'yes' is taken for a yes") == 1, shown
        assert not came() and code == (2 if answer == "yes" else 4), shown
        assert ("is about another store" in shown) == (answer == "yes"), shown


def test_from_python_the_observer_is_asked(lab, plan, moved):
    moved()
    seen: list[Elsewhere] = []

    class No(Observer):
        def trusts(self, file: Elsewhere) -> bool:
            seen.append(file)
            return False

    calls = len(lab.wire.calls)
    with pytest.raises(NotConfirmed):
        fix(FixRequest(plan=plan, created=lab.created), observer=No())
    assert len(lab.wire.calls) == calls and seen[0].steps and os.fspath(plan) == seen[0].name
