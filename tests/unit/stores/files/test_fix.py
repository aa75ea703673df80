"""A fix of files from end to end: applied, undone, killed anywhere and then finished or undone."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from reshardctl.codec import values
from reshardctl.codec.strict import JsonPath, parse
from reshardctl.execution.undo import undo_steps
from reshardctl.journal import Header, Journal, read
from reshardctl.model import Create, Delete, Image, Step, Update, Write, after
from reshardctl.model.images import Change
from reshardctl.planning.restore import Restore
from reshardctl.planning.writes import rebase
from reshardctl.render.content.writes import write_lines
from reshardctl.stores.base import Store, recover
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.support.plans import apply, resume
from tests.unit.stores.files.bucket import Prefix, bucket_server
from tests.unit.stores.files.test_killed import watched
from tests.unit.stores.files.test_tree import b64
from tests.unit.stores.files.trees import contents, crc32, everything, plant

pytestmark = pytest.mark.long

MOVING = frozenset({"size", "modified", "crc", "stored_with", "crc_stored_with"})
RESTORE = Restore(MOVING, frozenset(), frozenset())
GUARD = ("text", "crc")
LONG = "é" + "e" * 10_000_000
"""Ten megabytes: 100 000 shards in an offset line."""
FILES = {
    "metadata": b'{"id":"69880f2a-f006-496b-9513-9120bf42d838"}',
    "offsets/6": b"v1\nsix", "offsets/7": b"v1\nseven",
    "sources/0/shard-source/7/shardId-000000000000": b"entry",
}


def fill(root: Path, crc: bool = True) -> Tree:
    for key, content in FILES.items():
        plant(root, key, content, crc32(content) if crc else None)
    return Tree(Local(str(root)), everything)


def plan(medium: Store, crc: bool = True, text: str = "v1\nnew") -> list[Step]:
    """The newest batch edited in place with its log wiped, and one more appended."""
    rows = {image.key: image for image in medium.read()}
    own = {"text": {"S": text}} | ({"crc": b64(crc32(text.encode()))} if crc else {})
    log = "sources/0/shard-source/7/shardId-000000000000"
    changes: dict[str, Change] = {"offsets/7": Update(own), log: Delete(), "offsets/8": Create(own)}
    return [
        Step(key, (Write(key, change, rows.get(key), "a test", GUARD if key in rows else ()),))
        for key, change in changes.items()
    ]


def header(steps: list[Step], medium: Store) -> Header:
    return Header(
        plan="1f" * 32, locator="spark:x", identity=medium.identity(),
        stream={"arn": "arn:aws:kinesis:us-east-1:123456789012:stream/orders", "created": "1"},
        policy="lossless", who="ops@host", when="2026-11-21T17:00:00Z", steps=tuple(steps),
        notes={},
    )


def fix(steps: list[Step], medium: Store, path: Path) -> None:
    def check(rows: list[Image]) -> list[Step]:
        return rebase(steps, rows, MOVING)

    with Journal.create(path, header(steps, medium)) as journal:
        apply(steps, medium, journal, check=check)
        journal.verified()


def finish(medium: Store, path: Path) -> None:
    journal, records = Journal.open(path)
    with journal:
        resume(journal, records, medium, volatile_attributes=MOVING)


def take_back(medium: Store, path: Path) -> None:
    recover(medium)
    rows = {image.key: image for image in medium.read()}
    steps = undo_steps(read(path), rows, RESTORE, MOVING)
    journal, _ = Journal.open(path)
    with journal:
        if steps:
            journal.begin_undo(steps)
            apply(steps, medium, journal, check=lambda now: rebase(steps, now, MOVING))
        journal.undone()


@pytest.mark.parametrize("crc", [True, False])
def test_there_and_back(tmp_path: Path, crc: bool) -> None:
    root = tmp_path / "c"
    medium = fill(root, crc)
    steps, before = plan(medium, crc), contents(root)
    expected = after(medium.read(), steps)
    fix(steps, medium, tmp_path / "j")
    named = {image.key: image.attributes.get("text") for image in expected}
    found = {image.key: image.attributes.get("text") for image in medium.read()}
    assert {k: v for k, v in found.items() if v} == {k: v for k, v in named.items() if v}
    assert (crc32(b"v1\nnew") == contents(root).get("offsets/.8.crc")) is crc
    take_back(medium, tmp_path / "j")
    assert contents(root) == before


def test_there_and_back_on_s3(tmp_path: Path) -> None:
    with bucket_server() as url:
        prefix = Prefix(url)
        for key, content in FILES.items():
            prefix.plant(key, content)
        before, medium = prefix.contents(), prefix.tree()
        fix(plan(medium, crc=False), medium, tmp_path / "j")
        now = prefix.contents()
        assert now["jobs/orders/offsets/8"] == now["jobs/orders/offsets/7"] == b"v1\nnew"
        assert not any("shard-source" in key for key in now)
        take_back(medium, tmp_path / "j")
        assert prefix.contents() == before


def test_a_stale_checksum_comes_back_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "c"
    medium = fill(root)
    (root / "offsets/.7.crc").write_bytes(b"stale")
    before = contents(root)
    fix(plan(medium), medium, tmp_path / "j")
    take_back(medium, tmp_path / "j")
    assert contents(root) == before


def test_ten_megabytes_there_and_back(tmp_path: Path) -> None:
    root = tmp_path / "c"
    medium = fill(root)
    steps, before = plan(medium, text=LONG), contents(root)
    for step in steps:
        source = values.text(values.step_json(step))
        assert values.step(parse(source, JsonPath("plan")), JsonPath("plan")) == step
    fix(steps, medium, tmp_path / "j")
    assert contents(root)["offsets/8"] == LONG.encode()
    take_back(medium, tmp_path / "j")
    assert contents(root) == before


@pytest.mark.parametrize("verbose", [False, True])
def test_a_long_text_is_shown_by_its_beginning(verbose: bool) -> None:
    number = "49680412033094866848527506851837432377108706273800486914"
    own = {"text": {"S": f"v1\n{number}{LONG}"}}
    lines = write_lines(Write("offsets/8", Create(own), None, "a test"), verbose)
    assert all(len(line) < 4100 if verbose else len(line) < 200 for line in lines)
    assert "(10000060 characters)" in lines[-1]
    assert (number in lines[-1]) is verbose


@pytest.fixture
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it has written, synced or not."""
    monkeypatch.setattr("os.fsync", lambda _: None)


def points(tmp_path: Path) -> int:
    medium = fill(tmp_path / "counted")
    with watched(lambda *_: None, True) as calls:
        fix(plan(medium), medium, tmp_path / "counted.j")
    return len(calls)


@pytest.mark.usefixtures("_no_waiting_for_the_disk")
@pytest.mark.parametrize("end", [finish, take_back])
def test_killed_anywhere(tmp_path: Path, end: Callable[[Store, Path], None]) -> None:
    """The journal's own calls count as well. Finished or taken back, whole."""
    wanted = tmp_path / "wanted"
    medium = fill(wanted)
    if end is finish:
        fix(plan(medium), medium, tmp_path / "wanted.j")
    for at in range(points(tmp_path)):
        root, path = tmp_path / str(at), tmp_path / f"{at}.j"
        medium = fill(root)
        kill(medium, path, at)
        if not path.exists() or not path.read_bytes().endswith(b"\n"):
            assert contents(root) == contents(fill_again(tmp_path, at))
            continue
        end(medium, path)
        assert contents(root) == contents(wanted)
        shutil.rmtree(root)


def fill_again(tmp_path: Path, at: int) -> Path:
    root = tmp_path / f"{at}-again"
    fill(root)
    return root


def kill(medium: Tree, path: Path, at: int) -> None:
    child = os.fork()
    if child == 0:
        def act(number: int, done: bool) -> None:
            if number == at and not done:
                os.kill(os.getpid(), signal.SIGKILL)

        with watched(act, True):
            fix(plan(medium), medium, path)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
