"""One stream, one lease table, and a command line in process: everything outside is a fake.

Kinesis is FakeKinesis, DynamoDB and S3 are moto: servers that answer calls of this process without
HTTP and those of others with it. Both live as long as the test session. Time is the fake
stream's: a command that waits moves it, so nothing here ever sleeps.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, TypeVar
from unittest.mock import patch

import boto3
import pytest
import typer
from botocore.awsrequest import AWSResponse

from reshardctl.cli.app import application, run
from reshardctl.commands import connect
from reshardctl.console import interrupt
from reshardctl.model import Image
from reshardctl.testing import FakeKinesis, load_topology
from tests.support.case import Case
from tests.support.kinesis_server import answered as answered_by_fake
from tests.support.lease_server import REGION, LeaseTable
from tests.support.lease_server import answered as answered_by_moto
from tests.support.made_up_aws import MADE_UP
from tests.support.spared_client import spare
from tests.whole.test_iam import documented

ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
SESSION_TOKEN = "FwoGZXIvYXdzEXAMPLETOKENEXAMPLETOKEN"
"""AWS's own documentation keys, so that no scanner takes them for real ones."""
SECRETS = (ACCESS_KEY, SECRET_KEY, SESSION_TOKEN)

STARTS = ("error: ", "refused: ", "empty: ", "half done: ", "cancelled")
"""How a failure on stderr begins."""

TRIM_HORIZON = "?initial=TRIM_HORIZON&release=3.5.1"
LATEST = "?initial=LATEST&release=3.5.1"
"""Options of most labs, one for each start mode."""

REPORTING = frozenset({"inspect", "fix", "undo", "rebuild", "audit"})
"""Commands that write a report."""

WRITES = ("TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem")
"""Every call that writes a row."""

Item = dict[str, Any]
Beside = TypeVar("Beside", bound="Lab")


class Switchboard(FakeKinesis):
    """What the Kinesis server asks: the fake of the test that runs now."""

    fake: FakeKinesis

    def call(self, action: str, params: Mapping[str, Any], region: str | None = None) -> Any:
        return self.fake.call(action, params, region)


@dataclass(frozen=True)
class Servers:
    """Both endpoints, for the whole session."""

    kinesis: str
    dynamodb: str
    switchboard: Switchboard


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def codes(self) -> set[str]:
        """Codes of findings at warning or above, of an `inspect --format json`."""
        return {f["code"] for f in self.json["findings"] if f["severity"] != "info"}

    def commands(self, verb: str) -> list[list[str]]:
        """The arguments of each command of that verb which has a line of its own, as pasted."""
        lines = (self.out + self.err).replace("\\\n", "").splitlines()
        own = [line for line in lines if line.startswith(f"  reshardctl {verb} ")]
        return [shlex.split(line, comments=True)[1:] for line in own]

    def says(self, *argv: str) -> bool:
        """Whether stderr is one clear message with all of these words, and no accident."""
        assert "Traceback" not in self.err and "defect of reshardctl" not in self.err, self.err
        assert self.err.startswith(STARTS)
        assert len(self.err.splitlines()) <= 3, self.err
        missing = [word for word in argv if word not in self.err]
        assert not missing, f"{missing} not in {self.err!r}"
        return True


class Wire:
    """Every call of a command to AWS: a log, and answers of the test's own in its stead."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.needed: set[str] = set()
        self.needed_now: set[str] = set()
        """The IAM actions of all commands, and of the one that runs."""
        self.faults: list[tuple[str, int, Callable[[], AWSResponse | None], int | None]] = []

    def need(self, service: str, operation: str, body: bytes | None) -> None:
        """Note the IAM actions of a call. A transaction needs those of the writes in it (Amazon
        DynamoDB Developer Guide, "Using IAM with DynamoDB transactions")."""
        if operation == "ListObjectsV2":  # the permission is called after an older call
            found = {"s3:ListBucket"}
        elif operation != "TransactWriteItems":
            found = {f"{service}:{operation}"}
        else:
            found = _in_transaction(service, body)
        self.needed |= found
        self.needed_now |= found

    @property
    def writes(self) -> list[str]:
        """Calls that change a table or a stream. Reads are listed, so a new call is a write."""
        reads = {"Scan", "DescribeTable", "ListTables", "BatchGetItem", "GetItem",
                 "DescribeStreamSummary", "ListShards", "ListStreams", "GetShardIterator",
                 "GetRecords", "DescribeTimeToLive", "DescribeContinuousBackups"}  # fmt: skip
        return [operation for _, operation in self.calls if operation not in reads]

    def fail(self, operation: str, code: str, status: int = 400, *, times: int | None = None,
             after: int = 0, message: str = "said by the test") -> None:
        """From the `after`th call on, `times` calls of an operation are answered with an error."""
        body = json.dumps({"__type": f"com.amazonaws#{code}", "message": message})
        self.faults.append((operation, after, lambda: answered(status, body), times))

    def fail_writes(self, code: str, status: int = 400, **more: Any) -> None:
        """The same for every call that writes a row."""
        for operation in WRITES:
            self.fail(operation, code, status, **more)

    def fail_s3(self, operation: str, code: str, status: int, *, after: int = 0) -> None:
        """The same for S3, whose errors are XML."""
        body = f"<Error><Code>{code}</Code><Message>said by the test</Message></Error>"
        self.faults.append((operation, after, lambda: answered(status, body), None))

    def do(self, operation: str, what: Callable[[], None], *, after: int = 0) -> None:
        """Just before the `after`th call of an operation is sent, do something else."""

        def act() -> None:
            what()

        self.faults.append((operation, after, act, 1))

    def sent(self, request: Any, event_name: str, **_: Any) -> AWSResponse | None:
        service, operation = event_name.split(".")[1:]
        self.calls.append((service, operation))
        self.need(service, operation, request.body)
        for index, (named, after, fault, times) in enumerate(self.faults):
            if named != operation:
                continue
            if after > 0:
                self.faults[index] = (named, after - 1, fault, times)
                continue
            if times == 0:
                continue
            self.faults[index] = (named, 0, fault, None if times is None else times - 1)
            if (answer := fault()) is not None:
                return answer
        return None


@dataclass
class Lab:
    """A stream and a table; see the module."""

    configured_probe: ClassVar[bool] = False
    """Whether reshardctl.toml has records read, which needs more permissions."""

    servers: Servers
    fake: FakeKinesis
    table: LeaseTable
    state: Path
    wire: Wire
    stream: str = "orders"
    options: str = ""
    on_sleep: list[Callable[[float], None]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    terminal: bool = field(default=False, kw_only=True)
    """Whether stdout says that it is a terminal; its width is COLUMNS."""

    @property
    def locator(self) -> str:
        return f"kcl://{self.table.name}{self.options}"

    def beside(self, store: type[Beside], /, **more: Any) -> Beside:
        """The same servers, stream and clock with a store of another kind."""
        return store(**{one.name: getattr(self, one.name) for one in fields(Lab)} | more)

    @property
    def where(self) -> list[str]:
        """The words that name consumer and stream."""
        return [self.locator, "--stream", self.stream]

    @property
    def created(self) -> str:
        """The stream's creation time as --created and --recreated take it."""
        from reshardctl.model.times import instant

        return instant(self.fake.stream(self.stream).created)

    def cli(self, *words: str | Path) -> Result:
        """One command line, in process.

        A report is concise, unless the words name a format or this is a terminal: most tests read
        lines. `typed` is the command line as it stands.
        """
        formed = any(str(word).startswith(("--format", "--every")) for word in words)
        if words[:1] and words[0] in REPORTING and not formed and not self.terminal:
            words = (words[0], "--format", "concise", *words[1:])
        return self.typed(*words)

    def typed(self, *words: str | Path) -> Result:
        """One command line, in process, as it stands."""
        out, err = _captured(self.terminal), _captured()
        before = {s: signal.getsignal(s) for s in interrupt.SIGNALS}
        interrupt._asked = False
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run([str(word) for word in words])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        result = Result(int(code), _text(out), _text(err))
        for secret in SECRETS:
            assert secret not in result.out + result.err
        self._permitted(words)
        return result

    def at_terminal(
        self, *words: str | Path, answer: str = "", columns: int = 100, **more: str
    ) -> tuple[int, str]:
        """How a command of this process ends at a terminal, and all that it shows.

        answer: what is typed. more: variables. `test_process` asks at a real terminal.
        """
        with (
            patch.dict(os.environ, {"COLUMNS": str(columns), **more}),
            patch("sys.stdin", Keyboard(answer)),
            patch.object(self, "terminal", True),
        ):
            done = self.typed(*words)
        return done.code, done.out + done.err

    def _permitted(self, argv: Sequence[str | Path]) -> None:
        """Whatever a test does, a command calls nothing that docs/iam.md does not allow it."""
        writing = argv[0] in ("fix", "rebuild", "undo") and not {"--dry-run", "-n"} & set(argv)
        allowed = documented("fix" if writing else "inspect")
        reads = {"audit", "--probe", "--count", "--plan", "--resume", "--shift", "latest"}
        times = ("at-timestamp", "1=AT_TIMESTAMP", "past=")
        timed = any(str(word).startswith(times) for word in argv)
        if reads & set(argv) or self.configured_probe or timed:
            allowed |= documented("probe")
        if any(str(word).startswith("s3://") for word in argv):
            allowed |= documented("journal")
        if any(re.match(r"[a-z]+(\+s3|:s3a)://", str(word)) for word in (self.locator, *argv)):
            allowed |= documented("s3-fix" if writing else "s3-inspect")
        if "--prune" in argv:
            allowed = documented("journal-prune")
        if "--discover" in argv:
            allowed |= documented("discover")
        if argv[0] == "discover":
            allowed = documented("discover")
        if list(argv[:2]) == ["config", "tables"]:
            allowed = documented("tables")
        allowed |= documented("name")
        allowed |= {"sts:AssumeRole"}  # of a role, in the words at the end of the page
        fresh, self.wire.needed_now = self.wire.needed_now, set()
        assert fresh <= allowed, fresh - allowed

    def inspect(self, *more: str | Path) -> Result:
        return self.cli("inspect", *self.where, *more)

    def dry(self, *more: str | Path) -> Result:
        return self.cli("fix", *self.where, "--dry-run", *more)

    def fix(self, *more: str | Path) -> Result:
        return self.cli("fix", *self.where, "--yes", "--assume-stopped", *more)

    def undo(self, *more: str | Path) -> Result:
        return self.cli("undo", self.journal(), "--yes", "--assume-stopped", *more)

    def apply(self, plan: str | Path, *more: str | Path) -> Result:
        """A saved plan."""
        return self.cli("fix", "--plan", plan, "--yes", "--assume-stopped", *more)

    def resume(self, *more: str | Path) -> Result:
        """The rest of the only fix."""
        return self.cli("fix", "--resume", self.journal(), "--yes", "--assume-stopped", *more)

    def journals(self) -> list[Path]:
        return sorted(self.state.glob("*.jsonl")) if self.state.is_dir() else []

    def journal(self) -> Path:
        """The only journal there is."""
        (path,) = self.journals()
        return path

    def items(self) -> dict[str, Item]:
        """Every row as boto3 gives it, by key."""
        return {item["leaseKey"]["S"]: item for item in self.table.items()}

    def plant(self, *items: Item) -> None:
        """Put rows in, over what is there."""
        self.table.plant(*(Image(item["leaseKey"]["S"], item) for item in items))

    def empty(self) -> None:
        """Take every row out."""
        for key in self.items():
            self.table.pull(key)

    def remake_table(self) -> None:
        """Delete the table, and make another of its name without rows."""
        self.table.boto.delete_table(TableName=self.table.name)
        LeaseTable(self.servers.dynamodb, name=self.table.name)

    def restore(self, items: Mapping[str, Item]) -> None:
        """Leave these rows, and no others."""
        for key in self.items().keys() - items.keys():
            self.table.pull(key)
        self.plant(*items.values())

    def alter(self, key: str, **attributes: Any) -> None:
        """Set attributes of a row, or take them out (None), as another program would."""
        item = {**self.items()[key], **attributes}
        self.plant({name: value for name, value in item.items() if value is not None})

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.fake.clock.advance(max(0.0, seconds))
        for hook in self.on_sleep:
            hook(seconds)

    def time(self) -> float:
        return self.fake.clock.now()


def _in_transaction(service: str, body: bytes | None) -> set[str]:
    names = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem",
             "ConditionCheck": "ConditionCheckItem"}  # fmt: skip
    items = json.loads(body or b"{}")["TransactItems"]
    return {f"{service}:{names[kind]}" for item in items for kind in item}


def answered(status: int, body: str) -> AWSResponse:
    raw = SimpleNamespace(stream=lambda **_: iter([body.encode()]), read=lambda: body.encode())
    return AWSResponse("http://fault", status, {"content-type": "application/x-amz-json-1.0"}, raw)


class Sessions:
    """Stands in for boto3.Session: clients are made once and kept, their calls go to one wire.

    To make a client takes longer than a command. Profiles and roles get a session of their own.
    """

    wire: Wire

    def __init__(self) -> None:
        self._clients: dict[Any, Any] = {}
        self._session = boto3.session.Session(
            ACCESS_KEY, SECRET_KEY, SESSION_TOKEN, region_name="us-east-1"
        )

    def __call__(self, profile_name: str | None = None, region_name: str | None = None,
                 **more: Any) -> Any:
        if profile_name is not None or more:
            return boto3.session.Session(
                profile_name=profile_name, region_name=region_name, **more
            )
        region = region_name or os.environ.get("AWS_DEFAULT_REGION")
        return SimpleNamespace(
            region_name=region,
            client=lambda service, **options: self._client(service, region, **options),
        )

    def _client(self, service: str, region: str | None, *, region_name: str | None = None,
                endpoint_url: str | None = None, config: Any = None) -> Any:
        url = endpoint_url or os.environ[f"AWS_ENDPOINT_URL_{service.upper()}"]
        key = (service, region_name or region, url)
        if key not in self._clients:
            client = self._session.client(
                service, region_name=key[1], endpoint_url=url, config=config
            )
            client.meta.events.register("before-send", self._sent, unique_id="lab")
            spare(client, ACCESS_KEY)
            self._clients[key] = client
        return self._clients[key]

    def _sent(self, **said: Any) -> AWSResponse | None:
        return self.wire.sent(**said) or answered_by_fake(**said) or answered_by_moto(**said)


@cache
def sessions() -> Sessions:
    """One for the whole test session."""
    return Sessions()


@cache
def command() -> Any:
    """The command line, built once."""
    return typer.main.get_command(application())


@contextmanager
def opened(
    servers: Servers, fake: FakeKinesis, items: list[Item], state: Path,
    monkeypatch: pytest.MonkeyPatch, wire: Wire, name: str = "", region: str = REGION,
) -> Iterator[Lab]:
    """A lab whose commands run against these servers, at this fake's time. name, region: the
    table's."""
    table = LeaseTable(servers.dynamodb, name=name, region=region)
    lab = Lab(servers, fake, table, state, wire)
    servers.switchboard.fake = fake
    lab.plant(*items)
    for name, value in environment(servers, state).items():
        monkeypatch.setenv(name, value)
    clock = SimpleNamespace(time=lab.time, sleep=lab.sleep, monotonic=lab.time)
    monkeypatch.setattr(connect, "time", clock)
    sessions().wire = wire
    monkeypatch.setattr("boto3.Session", sessions())
    monkeypatch.setattr("reshardctl.cli.app.application", lambda _only: command())
    try:
        yield lab
    finally:
        table.boto.delete_table(TableName=table.name)


def environment(servers: Servers, state: Path) -> dict[str, str]:
    """What points a command at the servers, in process or out of it."""
    return {
        "AWS_ENDPOINT_URL_KINESIS": servers.kinesis,
        "AWS_ENDPOINT_URL_DYNAMODB": servers.dynamodb,
        **MADE_UP,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_SESSION_TOKEN": SESSION_TOKEN,
        "RESHARDCTL_STATE_DIR": str(state),
        "NO_PROXY": "127.0.0.1",
    }


def fake_of(case: Case) -> FakeKinesis:
    """The case's stream as the service would show it."""
    return load_topology(case.stream)


def option_words(initial: str, release: str | None, created: int) -> str:
    """A locator's options, as a case spells start modes."""
    from datetime import UTC, datetime

    if initial.startswith("AT_TIMESTAMP:+"):
        at = created + float(initial.partition("+")[2])
        initial = "AT_TIMESTAMP:" + datetime.fromtimestamp(at, UTC).isoformat()
    return f"?initial={initial}" + (f"&release={release}" if release else "")


_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def bare(text: str) -> str:
    """Without colours."""
    return _COLOURS.sub("", text)


class Keyboard(io.StringIO):
    """What is typed at a terminal."""

    def isatty(self) -> bool:
        return True


class _Terminal(io.TextIOWrapper):
    """What says of itself that it is a terminal."""

    def isatty(self) -> bool:
        return True


def _captured(terminal: bool = False) -> io.TextIOWrapper:
    kind = _Terminal if terminal else io.TextIOWrapper
    return kind(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


PYTHON = sys.executable


def mode_of_new_files() -> int:
    """What the umask of this process leaves of a new file's mode."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def listed(lab: Lab, folder: Path) -> list[str]:
    """What the AWS CLI would print of the stream, in files, as words of a command."""
    stream = lab.fake.client("us-east-1")
    summary = stream.describe_stream_summary(StreamName=lab.stream)["StreamDescriptionSummary"]
    summary["StreamCreationTimestamp"] = summary["StreamCreationTimestamp"].timestamp()
    shards = {"Shards": stream.list_shards(StreamName=lab.stream)["Shards"]}
    (folder / "shards.json").write_text(json.dumps(shards))
    (folder / "summary.json").write_text(json.dumps({"StreamDescriptionSummary": summary}))
    return ["--shards", str(folder / "shards.json"), "--summary", str(folder / "summary.json")]


def printed(lab: Lab, folder: Path) -> list[str]:
    """The files that the AWS CLI would print, as words of a command; `taken` is the lab's time."""
    from reshardctl.model.times import instant

    rows = folder / "rows.json"
    rows.write_text(json.dumps({"Items": list(lab.items().values())}))
    return [*listed(lab, folder), "--rows", str(rows), "--taken", instant(lab.time())]
