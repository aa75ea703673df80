"""A mistyped command, option or value is answered with the similar one; nothing is called."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reshardctl.cli import app

CONFIG = """
[streams.orders]

[consumers.fraud]
stream = "orders"
locator = "kcl://fraud?initial=LATEST&release=3.5"
"""
KCL = "kcl://my-application"
STREAM = ("--stream", "s")


Typed = Callable[..., tuple[int, str]]


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """A command line in this process and a folder with this configuration; without AWS."""

    def none(*_: Any, **__: Any) -> None:
        raise AssertionError("AWS is called")

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("boto3.Session", none)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, config: str = CONFIG) -> tuple[int, str]:
        Path("reshardctl.toml").write_text(config)
        return app.run(words), capsys.readouterr().err

    return run


@pytest.mark.parametrize(("words", "meant"), [
    (("inspct",), "did you mean inspect? there are inspect, status"),
    (("config", "chek"), "did you mean check? there are show, check, iam"),
    (("fix", KCL, "--polcy", "latest"), "did you mean --policy? reshardctl fix --help"),
    (("fix", KCL, *STREAM, "--policy", "losless"), "did you mean lossless? there are"),
    (("fix", KCL, *STREAM, "--policy", "at-timestmp=-1h"), "did you mean at-timestamp=TIME?"),
    (("inspect", KCL, *STREAM, "--format", "jsn"), "did you mean json? known are"),
    (("inspect", KCL, *STREAM, "--format", "openmetric=x"), "did you mean openmetrics?"),
    (("inspect", KCL, *STREAM, "--rule", "child-not-startd"), "did you mean child-not-started?"),
    (("rule", "RHS203"), "did you mean RSH203?"),
    (("rule", "RSH2O3"), "did you mean RSH203?"),
    (("rule", "RSH2l0"), "did you mean RSH210?"),
    (("inspect", KCL, *STREAM, "--fail-on", "waning"), "'never'\n  did you mean warning?"),
    (("inspect", "kc://my-application", *STREAM), "did you mean kcl://my-application?"),
    (("inspect", f"{KCL}?relese=3.5", *STREAM), "did you mean release?"),
    (("inspect", "fruad"), "did you mean fraud? it has fraud, orders"),
    (("inspect", "ordres"), "did you mean orders? it has fraud, orders"),
])
def test_a_mistyped_word_is_answered_with_a_similar_one(typed, words, meant):
    code, err = typed(*words)
    assert code == 2 and "Value error" not in err
    assert meant in err


@pytest.mark.parametrize(("words", "meant"), [
    (("plan", KCL, *STREAM), f"reshardctl fix {KCL} --stream s --dry-run"),
    (("plan",), "reshardctl fix CONSUMER --dry-run"),
    (("plan", "--out", "p", KCL), "reshardctl fix CONSUMER --dry-run"),
    (("apply", "my.plan"), "reshardctl fix --plan my.plan"),
    (("repair", "fraud"), "reshardctl fix fraud"),
    (("rollback", "a b.jsonl"), "reshardctl undo 'a b.jsonl'"),
    (("list",), "undo --list"),
    (("list", "orders"), "reshardctl discover orders "),
    (("help",), "reshardctl --help"),
    (("help", "config", "check"), "reshardctl config check --help"),
    (("version",), "reshardctl --version"),
    (("-V",), "did you mean --version?"),
    (("config", "help"), "there are show, check, iam"),
    (("inspect", KCL, *STREAM, "--json"), "did you mean --format json?"),
    (("fix", KCL, *STREAM, "-y"), "did you mean --yes?"),
    (("inspect", KCL, *STREAM, "-y"), "\n  reshardctl inspect --help"),
    (("fix", KCL, "--force"), "\n  reshardctl fix --help"),
    (("inspect", KCL, *STREAM, "-o", "json"), "--format json; for a file of that name -o ./json"),
    (("inspect", KCL, *STREAM, "--output=JSON"), "--format json; for a file"),
    (("status", KCL, *STREAM, "-o", "csv"), "--format csv; for a file"),
    (("graph", KCL, *STREAM, "-o", "svg"), "--format svg; for a file"),
    (("export", KCL, *STREAM, "-o", "json"), "--format json; for a file"),
    (("explain",), "missing argument 'CONSUMER'\n  as in reshardctl explain "),
    (("rule", "RSH203", "RSH204"), "(RSH204)\n  as in reshardctl rule RSH203"),
    (("inspect", "--stream"), "option '--stream' requires an argument\n  see --help"),
])
def test_a_habit_of_another_tool_is_answered_with_what_is_typed_here(typed, tmp_path, words, meant):
    code, err = typed(*words)
    assert code == 2 and meant in err
    assert err.startswith("error: ") and len(err.splitlines()) == 2
    assert {each.name for each in tmp_path.iterdir()} == {"reshardctl.toml"}


@pytest.mark.parametrize(("right", "wrong", "meant"), [
    ("locator =", "locater =", "did you mean locator?"),
    ('stream = "orders"', 'stream = "oders"', "did you mean orders?"),
    ("release=3.5", "release=33.5", ""),
    ('locator = "kcl://', "locator = 7 # ", ""),
    ("initial=LATEST", "initial=LATESTS", ""),
])
def test_a_malformed_file_is_answered_in_our_words(typed, right, wrong, meant):
    code, err = typed("config", "check", config=CONFIG.replace(right, wrong))
    assert code == 2
    assert meant in err and err.startswith("error: reshardctl.toml:")
    for prefix in ("Value error,", "ValueError", "ValidationError", "Traceback"):
        assert prefix not in err
