"""The journal: on disk before what it guards; torn at its end or whole; damaged never trusted."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import stat
import tempfile
import tracemalloc
import zlib
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import ReshardError, UsageError
from reshardctl.journal import Journal, new_path, packed_texts, read, state_dir
from reshardctl.journal.file import FileLog, check_new, in_use
from reshardctl.journal.listing import State, entries, files
from reshardctl.journal.records import parsed
from tests.contracts.memory_store import MemoryStore
from tests.support.plans import Plan, apply, header, journal_of, plan_of, twice

UNPRIVILEGED = 65534
"""nobody, on every Linux."""


@pytest.fixture
def plan() -> Plan:
    return plan_of([1, 2])


@pytest.fixture
def medium(plan: Plan) -> MemoryStore:
    return MemoryStore(plan.rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "a journal.jsonl"


def finished(plan: Plan, medium: MemoryStore, path: Path) -> bytes:
    """A journal of a fix that was applied and verified."""
    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, medium, journal, check=lambda _: list(plan.steps))
        journal.verified()
    return path.read_bytes()


@pytest.fixture
def whole(plan: Plan, medium: MemoryStore, path: Path) -> bytes:
    return finished(plan, medium, path)


def refusing(code: int) -> Callable[..., Any]:
    """A call of the system that fails so."""
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return refuse


def unwritten(plan: Plan, medium: MemoryStore) -> bool:
    return medium.read() == sorted(plan.rows, key=lambda image: image.key)


# where


def test_where_journals_are_kept() -> None:
    """XDG Base Directory Specification: a relative path is invalid and to be ignored."""
    home = Path("/home/ops")
    assert state_dir({"RESHARDCTL_STATE_DIR": "/s"}, home) == Path("/s")
    assert state_dir({"XDG_STATE_HOME": "/x"}, home) == Path("/x/reshardctl")
    assert state_dir({"XDG_STATE_HOME": "x"}, home) == Path("/home/ops/.local/state/reshardctl")
    assert state_dir({}, home) == Path("/home/ops/.local/state/reshardctl")


def test_a_name_tells_time_store_and_plan_and_stays_in_its_directory() -> None:
    made = new_path(Path("/s"), "2026-11-21T17:00:00Z", "../orders etl", "0123456789abcdef")
    assert made == Path("/s/20261121T170000Z-.._orders_etl-01234567.jsonl")
    long = new_path(Path("/s"), "2026-11-21T17:00:00Z", "x" * 300, "0123456789abcdef")
    assert len(long.name) <= 255, "NAME_MAX of Linux (limits.h)"


# what is written


def test_a_journal_is_its_owners_alone(plan: Plan, medium: MemoryStore, path: Path) -> None:
    previous = os.umask(0)
    try:
        journal_of(plan, medium, path).close()
    finally:
        os.umask(previous)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_was_written_is_read(plan, medium, path):
    wanted = header(plan, medium)
    content = finished(plan, medium, path)
    found = read(path)
    assert found.header == wanted
    assert found.header.after == plan.after()[:1] + plan.after()[1:2]
    assert (found.fix.steps, found.fix.applied) == (plan.steps, {0, 1})
    assert [intent.step for intent in found.fix.intents.values()] == list(plan.steps)
    assert (found.fix.outcome, found.undo, found.torn) == ("verified", None, "")
    assert (found.count, found.size) == (content.count(b"\n"), len(content))


def test_the_records_their_order_and_that_each_is_chained_to_the_one_before(whole):
    """Worked out from the format's words alone: SHA-256 over the previous sum and the object."""
    lines = [json.loads(line) for line in whole.splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds == ["header", "intent", "intent", "landed", "landed", "verified"]
    assert [line["seq"] for line in lines] == list(range(6))
    chain = "0" * 64
    for line, record in zip(whole.splitlines(), lines, strict=True):
        assert list(record)[-1] == "sum"
        text = line[: line.rindex(b',"sum":"')] + b"}"
        chain = sha256(chain.encode() + text).hexdigest()
        assert record["sum"] == chain


def test_tokens_differ_and_fit(plan: Plan, medium: MemoryStore, path: Path) -> None:
    """ClientRequestToken has 36 characters at most (TransactWriteItems API reference)."""
    with journal_of(plan, medium, path) as journal:
        steps = list(enumerate(plan.steps))
        found = [intent.token for _ in range(2) for intent in journal.intend(steps)]
    assert len(set(found)) == 4
    assert all(1 <= len(token) <= 36 for token in found)


def test_intents_are_on_disk_before_they_are_given(plan, medium, path, monkeypatch):
    synced: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        synced.append(path.stat().st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    with journal_of(plan, medium, path) as journal:
        assert len(synced) == 2  # the file, and the directory that names it
        journal.intend(enumerate(plan.steps))
        assert synced[-1] == path.stat().st_size
        journal.verified()
        assert synced[-1] == path.stat().st_size


# what the disk refuses


@pytest.mark.parametrize(("content", "said"), [
    ("mine", "is no journal of reshardctl"), ("", "is no journal of reshardctl"),
    ('{"schema": "reshardctl/report/1"}', "is a report, not a journal"),
    (None, ""),
], ids=["mine", "empty", "a report", "a link to nowhere"])  # fmt: skip
def test_an_existing_file_is_never_written_over(plan, medium, path, content, said):
    """Nor is it called a journal that `fix --resume` goes on with, where it is none."""
    path.parent.mkdir()
    if content is None:
        path.symlink_to(path.parent / "elsewhere")
    else:
        path.write_text(content)
    words = f"exists already and {said}; nothing was" if said else "exists already"
    with pytest.raises(UsageError, match=words) as caught:
        journal_of(plan, medium, path)
    assert caught.value.next == "name another with --journal"
    assert path.is_symlink() or path.read_text() == content
    assert not (path.parent / "elsewhere").exists()


def test_an_existing_journal_can_be_gone_on_with(whole, path):
    with pytest.raises(UsageError, match="exists already; nothing was written") as caught:
        check_new(path)
    assert caught.value.next.endswith(f"reshardctl fix --resume {shlex.quote(str(path))}")
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"mine", None], ids=["unread", "without end"])
def test_a_file_that_cannot_be_read_or_has_no_end_is_no_journal(tmp_path, monkeypatch, content):
    """/dev/full gives zeros without end (full(4))."""
    path = Path("/dev/full") if content is None else tmp_path / "mine"
    if content:
        path.write_bytes(content)
    monkeypatch.setattr(Path, "open", refusing(errno.EACCES))
    with pytest.raises(UsageError, match="exists already") as caught:
        check_new(path)
    assert caught.value.next == "name another with --journal"


@pytest.mark.parametrize("lacking", [os.W_OK, os.X_OK])
def test_a_folder_that_takes_no_file_is_refused_before_any_work(tmp_path, monkeypatch, lacking):
    """A file is made in a folder that may be written and searched (open(2), EACCES)."""
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & lacking)
    with pytest.raises(UsageError, match=f"cannot write journal .*{tmp_path}: Permission denied"):
        check_new(tmp_path / "j.jsonl")


def test_a_state_directory_that_cannot_be_made(plan, medium, tmp_path):
    (tmp_path / "file").write_text("")
    words = r"cannot write journal .*: (Not a directory|File exists)"
    with pytest.raises(UsageError, match=words) as caught:
        journal_of(plan, medium, tmp_path / "file" / "j.jsonl")
    assert "RESHARDCTL_STATE_DIR" in caught.value.next


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EDQUOT], ids=os.strerror)
def test_a_state_directory_that_cannot_be_written(plan, medium, path, monkeypatch, code):
    monkeypatch.setattr(os, "open", refusing(code))
    with pytest.raises(UsageError, match=os.strerror(code)):
        journal_of(plan, medium, path)


def full_after(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes so many bytes more."""
    real = os.write
    left = [room]

    def write(descriptor: int, content: Any) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        part = bytes(content)[: left[0]]
        left[0] -= len(part)
        return real(descriptor, part)

    monkeypatch.setattr(os, "write", write)


@pytest.mark.parametrize("room", [0, 1, 500])
def test_a_full_disk_leaves_no_journal_behind(plan, medium, path, monkeypatch, room):
    full_after(room, monkeypatch)
    with pytest.raises(UsageError, match="No space left"):
        journal_of(plan, medium, path)
    assert not path.exists()


@pytest.mark.parametrize("room", [0, 1, 500, 2000, None])
def test_a_disk_that_takes_no_more_stops_the_fix_before_its_first_write(
    plan, medium, path, monkeypatch, room
):
    """room: the bytes that it still takes; `None` where it syncs no more."""
    journal = journal_of(plan, medium, path)
    size = path.stat().st_size
    if room is None:
        monkeypatch.setattr(os, "fsync", refusing(errno.EIO))
    else:
        full_after(room, monkeypatch)
    with pytest.raises(UsageError, match=r"No space left|Input/output error"), journal:
        apply(plan.steps, medium, journal, check=lambda _: list(plan.steps))
    assert unwritten(plan, medium)
    assert path.stat().st_size == size
    assert read(path).torn == ""


@pytest.mark.parametrize("again", [False, True], ids=["created", "opened"])
def test_what_is_written_after_a_cut_off_record_follows_the_one_before(path, monkeypatch, again):
    """Without a hole where the cut off bytes were."""
    log = FileLog(path)
    log.create(b"first\n")
    if again:
        log.close()
        log.open()
    with monkeypatch.context() as disk:
        full_after(3, disk)
        with pytest.raises(UsageError, match="No space left"):
            log.append(b"second\n", sync=True)
    log.append(b"third\n", sync=True)
    assert path.read_bytes() == b"first\nthird\n"


def test_a_full_disk_that_holds_a_journal_is_left_by_copying_it(plan, medium, path, monkeypatch):
    """`--journal` names the place of a new one only: `undo` and `--resume` go on with this one."""
    journal_of(plan, medium, path).close()
    journal, _ = Journal.open(path)
    full_after(0, monkeypatch)
    with pytest.raises(UsageError, match="No space left") as caught, journal:
        journal.failed("anything")
    assert "--journal" not in caught.value.next
    assert f"cp {shlex.quote(str(path))} DIRECTORY" in caught.value.next


def test_one_process_at_a_time(plan: Plan, medium: MemoryStore, path: Path) -> None:
    with journal_of(plan, medium, path):
        with pytest.raises(UsageError, match="in use by another reshardctl"):
            Journal.open(path)
        assert read(path).count == 1
    Journal.open(path)[0].close()


@pytest.mark.parametrize("again", [False, True], ids=["created", "opened"])
def test_a_file_system_without_locks_holds_no_journal(plan, medium, path, monkeypatch, again):
    """flock(2): ENOLCK. Two processes could write one journal there."""
    if again:
        journal_of(plan, medium, path).close()
    monkeypatch.setattr(fcntl, "flock", refusing(errno.ENOLCK))
    with pytest.raises(UsageError, match=r"cannot write journal .*: No locks available") as caught:
        Journal.open(path) if again else journal_of(plan, medium, path)
    assert path.exists() is again
    assert ("DIRECTORY" if again else "--journal") in caught.value.next


def test_a_journal_that_cannot_be_deleted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = FileLog(path)
    log.create(b"")
    monkeypatch.setattr(Path, "unlink", refusing(errno.EROFS))
    with pytest.raises(UsageError, match=r"cannot delete journal .*: Read-only") as caught:
        log.delete()
    assert caught.value.next == f"rm {shlex.quote(str(path))}"
    assert path.exists() and not in_use(path)


def test_a_folder_that_this_user_may_not_write_is_found_before_any_work() -> None:
    """access(2) asks for the real user."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o555)
        if root:
            os.setresuid(UNPRIVILEGED, UNPRIVILEGED, 0)
        try:
            with pytest.raises(UsageError, match=f"{above}: Permission denied"):
                check_new(Path(above) / "journals" / "j.jsonl")
        finally:
            if root:
                os.setresuid(0, 0, 0)


# going on


def test_going_on_chains_to_what_is_there_and_reopens_what_failed(plan, medium, path):
    journal_of(plan, medium, path).close()
    journal, records = Journal.open(path)
    assert records.header == header(plan, medium)
    with journal:
        journal.intend(enumerate(plan.steps))
        journal.applied(0)
        journal.failed("it stopped")
        found = read(path)
        journal.intend(enumerate(plan.steps))
    assert (found.fix.applied, found.fix.outcome, found.fix.why) == ({0}, "failed", "it stopped")
    assert read(path).fix.outcome == ""


def test_going_on_cuts_a_torn_record_off(whole, path):
    path.write_bytes(whole[:-7])
    journal, records = Journal.open(path)
    assert records.torn.startswith("the last record is incomplete: ")
    with journal:
        journal.verified()
        with pytest.raises(AssertionError):
            journal.discard()  # rows may be written
    assert path.read_bytes() == whole


def test_a_torn_record_that_cannot_be_cut_off_is_not_written_after(whole, path, monkeypatch):
    path.write_bytes(whole[:-7])
    with monkeypatch.context() as disk:
        disk.setattr(os, "ftruncate", refusing(errno.EIO))
        with pytest.raises(UsageError, match="Input/output error"):
            Journal.open(path)
    assert path.read_bytes() == whole[:-7] and not in_use(path)


@pytest.mark.usefixtures("whole")
def test_an_undo_is_a_second_course(plan: Plan, path: Path) -> None:
    journal, _ = Journal.open(path)
    with journal:
        journal.begin_undo(plan.steps[:1])
        assert read(path).undo is None  # not before its intents
        journal.intend([(0, plan.steps[0])])
        journal.applied(0)
        journal.undone()
    found = read(path)
    assert found.fix.outcome == "verified"
    assert found.undo is not None and found.run is found.undo
    assert (found.undo.steps, found.undo.applied) == (plan.steps[:1], {0})
    assert found.undo.outcome == "undone"


def test_a_fix_has_one_undo(plan: Plan, medium: MemoryStore, path: Path) -> None:
    with journal_of(plan, medium, path) as journal:
        for _ in range(2):
            journal.begin_undo(plan.steps)
            journal.intend(enumerate(plan.steps))
    with pytest.raises(UsageError, match=r"line 5: a second undo"):
        read(path)


def test_an_intent_for_a_part_of_a_step_keeps_the_rest(plan, medium, path):
    part = type(plan.steps[1])("rest", plan.steps[1].writes[1:])
    with journal_of(plan, medium, path) as journal:
        journal.intend(enumerate(plan.steps))
        journal.intend([(1, part)])
    assert read(path).fix.current == list(plan.steps)


# what is damaged


def test_a_journal_torn_anywhere_is_whole_up_to_there(whole, path):
    """Cut at every ninth byte, and around each end of a line: what is left reads as its whole
    lines, and the rest is named."""
    first = whole.index(b"\n") + 1
    for size in range(len(whole)):
        if size % 9 and b"\n" not in whole[max(size - 2, 0) : size + 2]:
            continue
        cut = whole[:size]
        if size < first:
            with pytest.raises(UsageError, match=r"no complete record.*rows are lost"):
                parsed(cut, path)
            continue
        found = parsed(cut, path)
        assert found.count == cut.count(b"\n")
        assert found.size == cut.rindex(b"\n") + 1
        rest = size - found.size
        torn = f"the last record is incomplete: {rest} bytes without a line end" if rest else ""
        assert found.torn == torn


def test_any_byte_changed_is_seen(whole, path):
    for place in range(0, len(whole) - 1, 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0x01
        line = whole[:place].count(b"\n") + 1
        with pytest.raises(UsageError, match=f"line ({line}|{line - 1}): "):
            parsed(bytes(damaged), path)


@pytest.mark.parametrize(("order", "line"), [
    *(([n for n in range(6) if n != gone], gone + 1) for gone in range(5)),
    ([0, 2, 1, 3, 4, 5], 2),
], ids=str)
def test_a_line_taken_out_or_two_that_are_swapped_are_seen(whole, path, order, line):
    lines = whole.splitlines(keepends=True)
    with pytest.raises(UsageError, match=f"line {line}: its checksum does not match"):
        parsed(b"".join(lines[n] for n in order), path)


def rewritten(content: bytes, line: int, change: Any) -> bytes:
    """A journal forged with right checksums: one record changed, the rest chained anew."""
    chain, result = "0" * 64, b""
    for number, raw in enumerate(content.splitlines()):
        record = json.loads(raw)
        del record["sum"]
        if number == line:
            change(record)
        text = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
        chain = sha256(chain.encode() + text).hexdigest()
        result += text[:-1] + b',"sum":"' + chain.encode() + b'"}\n'
    return result


FORGED: list[tuple[int, Any, str]] = [
    (0, lambda r: r["body"].update(version=2), "journal format 2 is not known.*reads format 1"),
    (0, lambda r: r["body"].update(version="1"), "journal format '1' is not known"),
    (0, lambda r: r.update(body=[]), "journal format None is not known"),
    (0, lambda r: r.update(kind="intent"), "line 1: a journal begins with its header"),
    (0, lambda r: r.update(kind="done"), "line 1: a journal begins with its header"),
    (0, lambda r: r["body"].update(who=3), "line 1: who: not a string"),
    (0, lambda r: r["body"].update(secret="x"), "line 1: unknown member 'secret'"),
    (0, lambda r: r["body"]["stream"].update(arn=1), "line 1: stream.arn: not a string"),
    (0, lambda r: r["body"]["before"].pop(), "line 1: before: does not fit the steps"),
    (0, lambda r: r["body"]["after"].pop(), "line 1: after: does not fit the steps"),
    (0, lambda r: r["body"]["steps"][0].pop("title"), r"line 1: steps\[0\]: title missing"),
    (1, lambda r: r.update(seq=7), "line 2: record 7 where 1 belongs"),
    (1, lambda r: r.update(kind="hearsay"), "line 2: unknown record 'hearsay'"),
    (1, lambda r: r["body"].update(step=9), "line 2: step: there is no step 9"),
    (1, lambda r: r["body"].update(step=1), "line 2: an intent for other rows than step 1"),
    (1, lambda r: r["body"].pop("token"), "line 2: token missing"),
    (3, lambda r: r["body"].update(step=-1), "line 4: step: there is no step -1"),
    (5, lambda r: r["body"].update(why=1), "line 6: why: not a string"),
]


@pytest.mark.parametrize(("line", "change", "words"), FORGED)
def test_a_forged_record_is_named(whole, path, line, change, words):
    assert rewritten(whole, line, lambda _: None) == whole
    with pytest.raises(UsageError, match=words) as caught:
        parsed(rewritten(whole, line, change), path)
    assert str(path) in caught.value.what


def test_landed_needs_an_intent(plan: Plan, medium: MemoryStore, path: Path) -> None:
    with journal_of(plan, medium, path) as journal:
        journal.applied(0)
    with pytest.raises(UsageError, match="line 2: step 0 was written without an intent"):
        read(path)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"not a journal\n", b"{}\n", b"\x00" * 300, b'{"seq":0}\n' * 3, None]
)
def test_what_is_no_journal(plan, medium, path, content):
    """content: `None` for a journal cut in its header, which does not say what was written."""
    if content is None:
        journal_of(plan, medium, path).close()
        content = path.read_bytes()[:-1]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    for opened in (read, Journal.open):
        with pytest.raises(UsageError, match=r"no complete record|is no journal"):
            opened(path)
    assert path.read_bytes() == content


def test_a_journal_that_is_not_there(path: Path) -> None:
    for opened, verb in ((read, "read"), (Journal.open, "write")):
        with pytest.raises(ReshardError, match=f"cannot {verb} journal {path}: No such file"):
            opened(path)


def test_a_header_tells_rows_before_and_after(medium: MemoryStore) -> None:
    plan = twice()
    found = header(plan, medium)
    assert found.before == [plan.rows[0]]
    assert found.after == [image for image in plan.after() if image.key != plan.rows[1].key]


def test_a_glance_at_a_journal_does_not_stop_a_fix(plan, medium, path, monkeypatch):
    """`undo --list` looks whether a journal is open by locking it for a moment."""
    journal_of(plan, medium, path).close()
    assert not in_use(path)
    with path.open("rb") as glance:
        fcntl.flock(glance, fcntl.LOCK_SH)
        monkeypatch.setattr(
            "reshardctl.journal.file.time.sleep", lambda _: fcntl.flock(glance, fcntl.LOCK_UN)
        )
        with Journal.open(path)[0]:
            assert in_use(path)
    assert not in_use(path.parent / "none.jsonl")


def test_a_journal_that_was_not_opened_closes_no_other_file(path: Path) -> None:
    FileLog(path).close()
    os.fstat(1)


# whole texts


def packed_of(path: Path, plan: Plan, medium: MemoryStore, packed: bytes) -> Path:
    """A whole journal with one packed text."""
    with journal_of(plan, medium, path) as journal:
        journal._append([("texts", {"zlib": {"x": b64encode(packed).decode()}})])
        apply(plan.steps, medium, journal, check=lambda _: list(plan.steps))
    return path


def test_a_text_that_unpacks_to_more_than_a_file_may_hold_costs_no_memory(
    plan, medium, path, monkeypatch
):
    """A listing does not unpack it, and who asks for it gets a named error."""
    monkeypatch.setattr(packed_texts, "LARGEST", 4 << 20)
    packer = zlib.compressobj(9)
    bomb = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(64)), packer.flush()])
    packed_of(path, plan, medium, bomb)
    tracemalloc.start()
    try:
        (entry,) = entries(files(path.parent))
        assert entry.state is State.HALF_DONE
        texts = read(path).fix.texts
        with pytest.raises(UsageError, match=r"line 2: zlib.x: unpacks to more than 4,194,304 b"):
            texts["x"]
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_a_text_of_any_size_comes_back(plan, medium, path, size):
    texts = read(packed_of(path, plan, medium, zlib.compress(b"a" * size))).fix.texts
    assert dict(texts) == {"x": "a" * size}


@pytest.mark.parametrize(
    "packed", [b"", b"x", zlib.compress(b"a" * 99)[:-3], zlib.compress(b"\xff")],
    ids=["nothing", "no zlib", "cut off", "no UTF-8"],
)
def test_what_is_no_packed_text_is_a_named_error(plan, medium, path, packed):
    texts = read(packed_of(path, plan, medium, packed)).fix.texts
    with pytest.raises(UsageError, match=r"line 2: zlib.x: not a packed text"):
        texts["x"]


@pytest.mark.parametrize("gone", [False, True])
def test_a_journal_under_which_nothing_was_written_goes(gone, plan, medium, path):
    """Also where somebody has removed its file already."""
    journal = Journal.create(path, header(plan, medium))
    if gone:
        path.unlink()
    journal.discard()
    assert not path.exists()
