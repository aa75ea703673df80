"""How a stream is reached: with a role's credentials, from another process, and no secret told."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis.fast import FastReader, Reach

ROLE = "arn:aws:iam::123456789012:role/reader"
# Shape of the AssumeRole example in the STS API reference.
ANSWER = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleResult><Credentials><AccessKeyId>ASIAROLE{n}</AccessKeyId>
<SecretAccessKey>secret-of-role</SecretAccessKey><SessionToken>token-of-role</SessionToken>
<Expiration>{until}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"""


@dataclass
class Sts:
    """Hands out credentials that live for so many minutes."""

    url: str
    minutes: int = 60
    status: int = 200
    asked: list[dict[str, list[str]]] = field(default_factory=list)


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sts]:
    class Exchange(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.asked.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            until = datetime.now(UTC) + timedelta(minutes=found.minutes)
            body = ANSWER.format(n=len(found.asked), until=until.isoformat()).encode()
            self.send_response(found.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, template: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    found = Sts(f"http://127.0.0.1:{http.server_address[1]}")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", found.url)
    thread = Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield found
    http.shutdown()
    thread.join()
    http.server_close()


def test_a_role_is_assumed_as_it_was_said_and_its_credentials_are_renewed(sts: Sts) -> None:
    sts.minutes = 5  # botocore renews what expires within ten minutes, when it is asked for
    session = Reach("us-east-1", None, ROLE, "nightly", "outside").session()
    keys = [session.get_credentials().get_frozen_credentials() for _ in range(2)]
    assert keys[0].token == "token-of-role"
    assert keys[0].access_key != keys[1].access_key
    first = sts.asked[0]
    assert first["Action"] == ["AssumeRole"]
    assert (first["RoleArn"], first["RoleSessionName"], first["ExternalId"]) == (
        [ROLE], ["nightly"], ["outside"]
    )  # fmt: skip


def test_a_role_that_may_not_be_assumed(sts: Sts) -> None:
    sts.status = 403
    with pytest.raises(CannotTell, match=f"role {ROLE} cannot be assumed"):
        Reach("us-east-1", None, ROLE).client()


@pytest.mark.usefixtures("sts")
def test_what_goes_to_executors_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-mine")
    reach = Reach("us-east-1", "http://127.0.0.1:1", ROLE)
    reach.session()
    stored = pickle.dumps(reach)  # as Spark does
    assert pickle.loads(stored) == reach  # noqa: S301 - ours
    assert b"secret" not in stored and b"token" not in stored
    assert "secret" not in repr(reach)


def test_a_region_must_come_from_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert FastReader(Reach(), "orders").name == "orders"
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(UsageError, match="no region is set"):
        FastReader(Reach(), "orders")


def test_an_arn_of_another_region_is_refused() -> None:
    with pytest.raises(UsageError, match="is in eu-west-1"):
        FastReader(Reach("us-east-1"), "arn:aws:kinesis:eu-west-1:123456789012:stream/orders")
