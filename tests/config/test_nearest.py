"""Where reshardctl.toml is looked for: here, then above, up to a repository's top or the home."""

from __future__ import annotations

from pathlib import Path

import pytest

from reshardctl.config.nearest import nearest


@pytest.fixture
def deep(tmp_path, monkeypatch) -> Path:
    """The current directory, three below a directory that is the home of nobody."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    folder = tmp_path / "top" / "middle" / "low"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def place(folder: Path) -> None:
    (folder / "reshardctl.toml").write_text("", encoding="utf-8")


def test_none_is_found(deep):
    (deep.parents[1] / ".git").mkdir()
    assert nearest() is None


def test_here_comes_first(deep):
    place(deep)
    place(deep.parent)
    assert nearest() == Path("reshardctl.toml")


@pytest.mark.parametrize("steps", [1, 2])
def test_the_nearest_above_is_named_from_here(deep, steps):
    for above in range(steps, 3):
        place(deep.parents[above - 1])
    found = nearest()
    assert found == Path(*[".."] * steps, "reshardctl.toml") and found.exists()


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_it_ends_at_the_top_of_a_repository(deep, kind):
    """A work tree of git has a file of this name."""
    place(deep.parents[1])
    git = deep.parent / ".git"
    if kind == "directory":
        git.mkdir()
    else:
        git.write_text("gitdir: elsewhere", encoding="utf-8")
    assert nearest() is None
    place(deep.parent)
    assert nearest() == Path("../reshardctl.toml")


def test_it_ends_at_the_home_directory(deep, monkeypatch):
    monkeypatch.setenv("HOME", str(deep.parent))
    place(deep.parents[1])
    assert nearest() is None
    place(deep.parent)
    assert nearest() == Path("../reshardctl.toml")


def test_from_another_directory(deep):
    place(deep.parent)
    assert nearest(deep) == deep / ".." / "reshardctl.toml"


def test_a_current_directory_that_is_gone_has_none(deep):
    deep.rmdir()
    assert nearest() is None
