"""The judges of chaos can fail: each is shown what it has to find."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.proof.chaos.commands import CALM, SECRETS, Operator, Ran
from tests.proof.chaos.ledger import Ledger, Put
from tests.proof.chaos.proxy import FAULTS, Door

SHARD, OTHER = "shardId-000000000000", "shardId-000000000001"
START, DONE = {"at": "start"}, {"at": "done"}
EXPIRED = 100.0


def effect(harm: str, since: Any = START, until: Any = DONE, shard: str | None = SHARD) -> Any:
    return {"harm": harm, "shard": shard, "since": since, "until": until}


def report(*effects: Any, code: str = "RSH202", shards: tuple[str, ...] = ()) -> Any:
    finding = {"code": code, "shards": list(shards), "effects": list(effects)}
    return {"findings": [finding], "decision": {"kind": "nothing"}}


def at(number: int) -> Any:
    return {"at": "number", "number": str(number)}


@pytest.fixture
def ledger() -> Ledger:
    """Ten records in one shard, numbers and times 101 to 110, of which the first was delivered."""
    ledger = Ledger()
    for n in range(101, 111):
        ledger.add(Put(f"r{n}", SHARD, n, float(n)))
    ledger.deliver(["r101"])
    return ledger


def lost(ledger: Ledger, horizon: float = EXPIRED) -> list[str]:
    return [each.partition(" ")[0] for each in ledger.lost(horizon)]


def test_what_was_neither_delivered_nor_announced_is_lost(ledger: Ledger) -> None:
    ledger.deliver([f"r{n}" for n in range(102, 110)])
    assert lost(ledger) == ["r110"]


def test_an_announcement_is_of_its_shard_and_its_interval_alone(ledger: Ledger) -> None:
    ledger.before_start(report(
        effect("skipped", at(101), at(108)), effect("skipped", shard=OTHER), effect("re-read"),
    ))  # fmt: skip
    assert lost(ledger) == ["r109", "r110"]


def test_a_stall_that_the_last_report_does_not_tell_of_excuses_nothing(ledger: Ledger) -> None:
    ledger.before_start(report(effect("stalled"), effect("skipped", at(101), at(102))))
    assert lost(ledger) == []
    ledger.before_start(report())
    assert lost(ledger) == [f"r{n}" for n in range(103, 111)]


def test_a_shard_of_which_the_last_report_says_that_nothing_can_tell_is_announced(
    ledger: Ledger
) -> None:
    ledger.before_start(report(code="RSH205", shards=(OTHER,)))
    assert len(lost(ledger)) == 9
    ledger.before_start(report(code="RSH205", shards=(SHARD,)))
    assert lost(ledger) == []


def test_what_has_expired_or_is_hidden_by_a_forged_place_is_nobody_s_fault(ledger: Ledger) -> None:
    assert lost(ledger, horizon=109.5) == ["r110"]
    ledger.forged.append((SHARD, 108.0))
    assert lost(ledger) == ["r109", "r110"]


def test_of_an_application_at_the_tip_what_came_before_its_first_record_counts_not() -> None:
    ledger = Ledger(latest=True)
    for n in (101, 102, 103):
        ledger.add(Put(f"r{n}", SHARD, n, float(n)))
        ledger.add(Put(f"o{n}", OTHER, n, float(n)))
    ledger.deliver(["r102"])
    assert lost(ledger) == []
    ledger.stored.add(SHARD)
    assert lost(ledger) == ["r103"]


def test_a_plan_that_reads_again_has_to_say_so(ledger: Ledger) -> None:
    ledger.deliver(["r102", "r103"])
    assert [e[:4] for e in ledger.rewound({SHARD: 103}, {SHARD: 101})] == ["r102", "r103"]
    ledger.accept({
        "after": [[effect("re-read", at(101), at(102))]], "costs": [], "price": [],
    })  # fmt: skip
    assert [e[:4] for e in ledger.rewound({SHARD: 103}, {SHARD: 101})] == ["r103"]
    assert ledger.rewound({SHARD: 103}, {SHARD: 103}) == []


@pytest.mark.parametrize(("code", "out", "err"), [
    (7, "", "error: something"),
    (1, "", "Traceback (most recent call last):\n  ..."),
    (3, "", "error: unexpected OSError: x\n  this is a defect of reshardctl"),
    (4, "", ""),
    (0, SECRETS["AWS_SECRET_ACCESS_KEY"], ""),
])  # fmt: skip
def test_no_command_ends_so(tmp_path: Path, code: int, out: str, err: str) -> None:
    operator = Operator(tmp_path, {}, [])
    operator._judge(Ran(("fix",), code, out, err), CALM)
    assert len(operator.wrong) == 1
    operator._judge(Ran(("fix",), 4, "", "refused: the consumer runs"), CALM)
    assert len(operator.wrong) == 1


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 1000)

    def log_message(self, template: str, *words: object) -> None:
        """Nothing."""


def test_a_door_lets_everything_through_or_meets_each_request_with_a_fault() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        door = Door(server.server_port, Random(1))
        try:
            assert all(_asked(door) for _ in range(5))
            assert not door.met
            door.rate = 1.0
            answered = sum(_asked(door) for _ in range(20))
            assert set(door.met) == set(FAULTS)
            assert answered == door.met["delay"]
            door.calm()
            assert _asked(door)
        finally:
            door.close()
            server.shutdown()


def _asked(door: Door) -> bool:
    """Whether a whole answer comes."""
    connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=10)
    try:
        connection.request("GET", "/")
        return len(connection.getresponse().read()) == 1000
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
