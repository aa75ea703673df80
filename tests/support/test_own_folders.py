"""What a test may write to, by the documented audit events of each call."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.proof.libraries.starts.records import RECORDED
from tests.support.own_folders import (
    CHECKOUT,
    RECORD_STARTS,
    WRITE_TRANSCRIPTS,
    changed,
    is_own,
    roots,
)

guarded = pytest.mark.skipif(
    CHECKOUT.is_relative_to(os.path.realpath(tempfile.gettempdir())),
    reason="this checkout lies in the folder for temporary files, where tests may write",
)


@pytest.mark.parametrize(
    ("event", "arguments", "paths"),
    [
        ("open", ("/a", "r", os.O_RDONLY | os.O_CLOEXEC), []),
        ("open", ("/a", "w", os.O_WRONLY | os.O_CREAT), ["/a"]),
        ("open", (b"/a", None, os.O_RDWR), ["/a"]),
        ("open", (3, "w", os.O_WRONLY), [""]),
        ("os.rename", ("/a", "/b", -1, -1), ["/a", "/b"]),
        ("os.mkdir", (Path("/a"), 0o777, -1), ["/a"]),
        ("os.symlink", ("/a", "/b", -1), ["/b"]),
        ("os.truncate", ("/a", 0), ["/a"]),
        ("os.listdir", ("/a",), []),
    ],
)
def test_paths_that_an_event_changes(event, arguments, paths):
    assert changed(event, arguments) == paths


@guarded
@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("", True), ("/dev/null", True), ("{tmp}/x", True),
        ("{checkout}/reshardctl/__pycache__/a.pyc", True),
        ("{checkout}/tests/proof/libraries/kcl/target/a.log", True),
        ("{checkout}/x", False), ("{checkout}/tests/golden/x", False), ("{checkout}/../x", False),
        ("/etc/x", False), ("{checkout}/target/../x", False),
    ],
)  # fmt: skip
def test_where_a_test_may_write(path, own, tmp_path):
    whole = path.format(tmp=tmp_path, checkout=CHECKOUT)
    assert is_own(whole, (*roots(), str(tmp_path))) is own


@guarded
@pytest.mark.parametrize(("variable", "path"), [
    (RECORD_STARTS, RECORDED / "kinsumer-1.jsonl"), (RECORD_STARTS, RECORDED / "kinsumer-1.new"),
    (WRITE_TRANSCRIPTS, CHECKOUT / "docs" / "kcl.md"),
])  # fmt: skip
def test_what_a_run_is_asked_to_write_it_may_write(variable, path, monkeypatch):
    """What tests/proof/libraries/run --record and CONTRIBUTING.md set, and nothing else with it."""
    monkeypatch.delenv(variable, raising=False)
    assert not is_own(str(path), roots())
    monkeypatch.setenv(variable, "1")
    assert is_own(str(path), roots())
    assert not is_own(str(CHECKOUT / "tests" / "golden" / "x"), roots())


@guarded
def test_writing_into_the_checkout_is_seen(_watch):
    """The last test of the guard itself: what it notes is taken away again."""
    place = CHECKOUT / "written-by-a-test"
    place.write_text("")
    place.unlink()
    assert _watch.found == [f"open {place}", f"os.remove {place}"]
    _watch.found.clear()


@guarded
def test_a_link_into_the_checkout_does_not_hide_it(_watch, tmp_path):
    (tmp_path / "link").symlink_to(CHECKOUT, target_is_directory=True)
    assert not is_own(str(tmp_path / "link" / "x"), (*roots(), str(tmp_path)))


def test_a_name_in_an_open_folder_is_that_folders(tmp_path):
    """As shutil.rmtree removes: by name and descriptor."""
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert changed("os.remove", ("a", folder)) == [str(tmp_path / "a")]
    finally:
        os.close(folder)
