"""Where reshardctl.toml is looked for: here, then above, up to a repository's top or the home; and
where its relative paths lead."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from reshardctl.config.nearest import distrusted, from_folder_of, nearest


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


ROOT = os.geteuid() == 0
FILE = Path("../reshardctl.toml")


@pytest.fixture
def above(deep) -> Path:
    """The folder above the current one, with a configuration that is used."""
    deep.parent.chmod(0o755)
    place(deep.parent)
    (deep.parent / FILE.name).chmod(0o644)
    assert distrusted(FILE) == ""
    return deep.parent


@pytest.mark.skipif(not ROOT, reason="only root may give a file away")
@pytest.mark.parametrize(("name", "what"), [(FILE.name, "it"), ("", "its folder")])
def test_what_belongs_to_somebody_else_is_not_used(above, name, what):
    os.chown(above / name, 4711, 0)
    why = f"{what} belongs to user 4711, who is neither you nor root"
    assert distrusted(FILE) == distrusted(above / FILE.name) == why


@pytest.mark.skipif(not ROOT, reason="only root may give a file away")
def test_a_user_trusts_root_and_itself(above, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert distrusted(FILE) == ""
    os.chown(above / FILE.name, 4711, 4711)
    assert distrusted(FILE) == ""


@pytest.mark.parametrize(("name", "what"), [(FILE.name, "it"), ("", "its folder")])
def test_what_everybody_may_write_is_not_used(above, name, what):
    mode = (above / name).stat().st_mode
    for more in (0o002, 0o1002):
        (above / name).chmod(mode | more)
        assert distrusted(FILE) == f"{what} can be written by everybody"


@pytest.mark.skipif(not ROOT, reason="only root may give a file away")
@pytest.mark.parametrize("name", [FILE.name, ""])
@pytest.mark.parametrize(("members", "called", "trusted"), [
    ([], "me", True), (["me"], "me", True), (["me", "you"], "me", False), ([], "team", False),
])
def test_a_group_of_its_own_may_write(above, monkeypatch, name, members, called, trusted):
    """Debian and its kin give every user a group, and a umask by which it may write."""
    os.chown(above / name, os.geteuid(), 4712)
    (above / name).chmod(0o775)
    me = pwd.struct_passwd(("me", "x", os.geteuid(), 4712, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: me)
    monkeypatch.setattr(grp, "getgrgid", lambda g: grp.struct_group((called, "x", g, members)))
    assert (distrusted(FILE) == "") == trusted
    if not trusted:
        assert "can be written by group 4712" in distrusted(FILE)


@pytest.mark.skipif(not ROOT, reason="only root may give a file away")
def test_a_link_is_followed(above, tmp_path):
    """What is read counts, and where it lies."""
    other = tmp_path / "other"
    other.mkdir(mode=0o755)
    place(other)
    (above / FILE.name).unlink()
    (above / FILE.name).symlink_to(other / FILE.name)
    assert distrusted(FILE) == ""
    os.chown(other, 4711, 4711)
    assert distrusted(FILE) == "its folder belongs to user 4711, who is neither you nor root"


def test_the_root_of_the_file_system_has_none(monkeypatch):
    stat = Path("/etc").stat()
    monkeypatch.setattr(Path, "resolve", lambda _path, **_strict: Path("/reshardctl.toml"))
    monkeypatch.setattr(Path, "stat", lambda _path: stat)
    assert distrusted(Path("/reshardctl.toml")) == "it lies in the root of the file system"


@pytest.mark.parametrize(("file", "path", "found"), [
    ("reshardctl.toml", "checkpoints/a", "checkpoints/a"),
    ("../reshardctl.toml", "checkpoints/a", "../checkpoints/a"),
    ("../../reshardctl.toml", "journals/", "../../journals/"),
    ("ci/reshardctl.toml", "checkpoints", "ci/checkpoints"),
    ("/etc/reshardctl.toml", "journals", "/etc/journals"),
    ("../reshardctl.toml", "/checkpoints/a", "/checkpoints/a"),
    ("../reshardctl.toml", "s3://bucket/prefix", "s3://bucket/prefix"),
    ("../reshardctl.toml", "hdfs://name/a", "hdfs://name/a"),
    ("../reshardctl.toml", "file:///a", "file:///a"),
    ("../reshardctl.toml", "", ""),
])  # fmt: skip
def test_from_the_folder_of_the_file(file, path, found):
    assert from_folder_of(file, path) == found
