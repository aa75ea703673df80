"""DynamoDB's own ways: keys, capacity, permissions, credentials, and answers that get lost."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import boto3
import pytest
from botocore.exceptions import ReadTimeoutError

from reshardctl.aws.client import ATTEMPTS
from reshardctl.errors import AnswerLost, CannotTell, Refused, UsageError
from reshardctl.model import (
    AttributeValue,
    Image,
    SideTable,
    Step,
    TableShape,
    Update,
    Write,
    changed,
)
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.dynamodb import ACTIONS, DynamoDb, request
from tests.contracts.medium_contract import END, create, delete, row, step, update
from tests.support.faults import (
    BROKEN_BEFORE,
    DENIED,
    EXPIRED,
    LASTING,
    THROTTLED,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
    TRANSIENT,
    URL,
    FaultySession,
    after,
    answer,
    before,
)
from tests.support.lease_server import Clock, LeaseTable, session

FULL_GUARD = ("checkpoint", "leaseCounter")


@pytest.fixture
def table(server: str) -> LeaseTable:
    return LeaseTable(server)


@pytest.fixture
def faulty() -> FaultySession:
    return FaultySession(session())


A, B = row("a", leaseOwner={"S": "w1"}), row("b")
STEPS = {
    "update": ([A], step(update(A, END, *FULL_GUARD))),
    "create": ([], step(create(row("c")))),
    "delete": ([A], step(delete(A, *FULL_GUARD))),
    "transaction": (
        [A, B], step(update(A, END, *FULL_GUARD), delete(B, *FULL_GUARD), create(row("c")))
    ),
}
"""Rows to begin with, and a step over them, of every shape that a request can have."""
EVERY_SHAPE = pytest.mark.parametrize("shape", STEPS)
WRITES = ("update_item", "put_item", "delete_item", "transact_write_items")


@pytest.fixture
def planted(table: LeaseTable, shape: str) -> tuple[list[Image], Step, list[Image]]:
    """Rows in the table, a step over them, and the rows after it, apart from `model.after`."""
    images, wanted = STEPS[shape]
    table.plant(*images)
    rows = {image.key: image for image in images}
    for write in wanted.writes:
        left = changed(rows.pop(write.key, None), write)
        rows |= {write.key: left} if left else {}
    return images, wanted, [rows[key] for key in sorted(rows)]


TRANSACTION = pytest.mark.parametrize("shape", ["transaction"])
UPDATE = pytest.mark.parametrize("shape", ["update"])


# identity and the wrong table


def test_identity_names_the_very_table(table, faulty):
    described = table.boto.describe_table(TableName=table.name)
    described["Table"]["TableId"] = "5f8b9a3e-0000-4000-8000-000000000000"
    found = table.medium().identity()
    assert found["arn"] == described["Table"]["TableArn"]
    assert found["created"].endswith("Z")
    faulty.always["describe_table"] = lambda _call: described
    assert table.medium(faulty).identity()["id"] == "5f8b9a3e-0000-4000-8000-000000000000"


def test_what_dynamodb_adds_to_items_of_a_global_table_is_no_part_of_them(table):
    """Version 2017.11.29 of global tables adds aws:rep:* to each item at each write."""
    added: dict[str, AttributeValue] = {
        "aws:rep:deleting": {"BOOL": False}, "aws:rep:updateregion": {"S": "us-east-1"},
        "aws:rep:updatetime": {"N": "1554766902.780001"},
    }  # fmt: skip
    table.plant(row("a", **added))
    medium = table.medium()
    assert medium.read() == [row("a")] == list(medium.get(["a"]).values())
    assert medium.write(step(update(row("a"), END, "checkpoint")), "t1") is WriteResult.APPLIED
    key = {"leaseKey": {"S": "a"}}
    stored = table.boto.get_item(TableName=table.name, Key=key)["Item"]
    assert added.items() <= stored.items()
    (now,) = medium.read()
    assert medium.write(step(delete(now, *now.attributes)), "t2") is WriteResult.APPLIED
    assert medium.read() == []


@pytest.mark.parametrize("more", [{}, {"RestoreSummary": {"RestoreInProgress": False}},
                                  {"Replicas": [{"RegionName": "eu-west-1"}]}])
def test_a_table_that_may_hold_older_rows_does_not_tell_when_it_was_made_empty(table, faulty, more):
    """RestoreSummary and Replicas of DescribeTable (API reference)."""
    described = table.boto.describe_table(TableName=table.name)
    made = described["Table"]["CreationDateTime"].timestamp()
    described["Table"] |= more
    faulty.always["describe_table"] = lambda _call: described
    assert table.medium(faulty).made_at() == (None if more else made)


def test_a_side_table_that_may_not_be_read_is_a_row_that_says_so(table, faulty):
    table.plant(row("a"))
    faulty.always["get_item"] = DENIED
    side = [SideTable("state", "key", ("Migration",))]
    (_, unread) = medium_of(faulty, table.url, table.name, side=side).read()
    assert unread.key == "state/"
    assert "no permission for dynamodb:GetItem on table state" in unread.attributes["unread"]["S"]


@pytest.mark.parametrize(("write", "words"), [
    (update(row("a"), Update({})), "an update that changes nothing"),
    (update(row("a"), Update({"leaseKey": {"S": "b"}})), "a row's key cannot be changed"),
    (create(row("a", leaseKey={"S": "b"})), "the row to create carries another key"),
])  # fmt: skip
def test_a_request_that_no_plan_may_hold(write: Write, words: str) -> None:
    with pytest.raises(ValueError, match=f"a: {words}"):
        request(write, TableShape("leases"))


def test_a_table_with_another_key_is_named(server: str) -> None:
    other = LeaseTable(server, key="wid")
    with pytest.raises(UsageError, match=r"holds no leases: its key is HASH wid \(S\)"):
        other.medium().identity()
    with pytest.raises(UsageError, match="holds no leases"):
        other.medium().read()


def test_an_absent_table_is_a_word_of_the_operator(table: LeaseTable) -> None:
    table.boto.delete_table(TableName=table.name)
    with pytest.raises(UsageError, match=f"no table {table.name} in us-east-1") as caught:
        table.medium().identity()
    assert caught.value.next == "aws dynamodb list-tables --region us-east-1"


def test_no_region_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(UsageError, match="no region is set for table leases"):
        medium_of(boto3.Session(), URL, "leases")


def test_the_region_given_counts(server: str) -> None:
    with pytest.raises(UsageError, match="no table t in eu-west-1"):
        medium_of(session(), server, region="eu-west-1").read()


def medium_of(boto_session: Any, url: str, name: str = "t", **more: Any) -> DynamoDb:
    clock = Clock()
    return DynamoDb(
        boto_session, name, endpoint_url=url, clock=clock.read, sleep=clock.sleep, **more
    )


# whole reads or none


def test_sets_inside_are_in_order_too(table: LeaseTable) -> None:
    inside = {"M": {"set": {"SS": ["z", "a"]}, "list": {"L": [{"NS": ["2", "1"]}]}}}
    table.plant(Image("a", {"leaseKey": {"S": "a"}, "map": inside}))
    (found,) = table.medium().read()
    assert found.attributes["map"] == {
        "M": {"set": {"SS": ["a", "z"]}, "list": {"L": [{"NS": ["1", "2"]}]}}
    }


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_read_outlives_a_passing_fault(table, faulty, name):
    table.plant(row("a"))
    faulty.faults = {0: TRANSIENT[name], 2: TRANSIENT[name], 4: TRANSIENT[name]}
    medium = table.medium(faulty)
    assert medium.read() == [row("a")]
    assert medium.get(["a"]) == {"a": row("a")}
    assert [operation for operation, _ in faulty.calls] == [
        *["describe_table"] * 2, *["scan"] * 2, *["batch_get_item"] * 2,
    ]


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_lasting_fault_ends_a_read(table, faulty, name):
    faulty.always["scan"] = TRANSIENT[name]
    with pytest.raises(CannotTell, match=f"reading page 1: table .*{ATTEMPTS} attempts"):
        table.medium(faulty).read()
    assert len(faulty.calls) == 1 + ATTEMPTS
    assert len(table.clock.slept) == ATTEMPTS - 1


@pytest.mark.parametrize("fault", [DENIED, EXPIRED, THROTTLED, TIMEOUT_BEFORE])
def test_a_failed_page_is_never_a_short_table(table, faulty, fault):
    for n in range(10):
        table.plant(row(f"k{n}", blob={"S": "x" * 150_000}))
    faulty.faults = dict.fromkeys(range(2, 2 + ATTEMPTS), fault)
    with pytest.raises(CannotTell, match="reading page 2"):
        table.medium(faulty).read()


def test_a_scan_that_does_not_advance_ends(table: LeaseTable, faulty: FaultySession) -> None:
    same = {"Items": [], "LastEvaluatedKey": {"leaseKey": {"S": "a"}}}
    faulty.always["scan"] = lambda _call: same
    with pytest.raises(CannotTell, match="does not advance"):
        table.medium(faulty).read()


def test_unprocessed_keys_are_asked_again(table: LeaseTable, faulty: FaultySession) -> None:
    for key in ("a", "b", "c"):
        table.plant(row(key))
    whole = {"leaseKey": {"S": "b"}}, {"leaseKey": {"S": "c"}}
    short = {
        "Responses": {table.name: [{"leaseKey": {"S": "a"}, "x": {"N": "1"}}]},
        "UnprocessedKeys": {table.name: {"Keys": list(whole), "ConsistentRead": True}},
    }
    faulty.faults[1] = lambda _call: short
    found = table.medium(faulty).get(["a", "b", "c"])
    assert found["a"] == Image("a", {"leaseKey": {"S": "a"}, "x": {"N": "1"}})
    assert (found["b"], found["c"]) == (row("b"), row("c"))


def test_keys_that_stay_unprocessed_are_not_absent(table, faulty):
    asked = {table.name: {"Keys": [{"leaseKey": {"S": "a"}}], "ConsistentRead": True}}
    faulty.always["batch_get_item"] = lambda _call: {"Responses": {}, "UnprocessedKeys": asked}
    with pytest.raises(CannotTell, match="stay unread"):
        table.medium(faulty).get(["a"])


# capacity


def test_a_scan_takes_half_of_the_capacity_at_most(server: str, faulty: FaultySession) -> None:
    table = LeaseTable(server, capacity=10)
    pages = 6
    left = list(range(pages))

    def page(_call: Any) -> dict[str, Any]:
        number = left.pop(0)
        more = {"LastEvaluatedKey": {"leaseKey": {"S": f"k{number}"}}} if left else {}
        item = {"leaseKey": {"S": f"k{number}"}}
        return {"Items": [item], "ConsumedCapacity": {"CapacityUnits": 20.0}, **more}

    faulty.always["scan"] = page
    assert len(table.medium(faulty).read()) == pages
    assert table.clock.now == pytest.approx(pages * 20.0 / 5.0)
    scans = [given for name, given in faulty.calls if name == "scan"]
    assert {given["Limit"] for given in scans} == {40}
    assert all(given["ReturnConsumedCapacity"] == "TOTAL" for given in scans)


def test_get_takes_half_of_the_capacity_at_most(server: str, faulty: FaultySession) -> None:
    table = LeaseTable(server, capacity=10)

    def batch(_call: Any) -> dict[str, Any]:
        return {"Responses": {}, "ConsumedCapacity": [{"CapacityUnits": 5.0}]}

    faulty.always["batch_get_item"] = batch
    table.medium(faulty).get([f"k{n}" for n in range(20)])
    assert table.clock.now == pytest.approx(20.0 / 5.0)
    assert [name for name, _ in faulty.calls].count("batch_get_item") == 4


def test_an_on_demand_table_is_not_waited_for_and_read_consistently(table, faulty):
    table.plant(row("a"))
    table.medium(faulty).read()
    table.medium(faulty).get(["a"])
    (scan,) = [given for name, given in faulty.calls if name == "scan"]
    (batch,) = [given for name, given in faulty.calls if name == "batch_get_item"]
    assert scan["ConsistentRead"] is True
    assert batch["RequestItems"][table.name]["ConsistentRead"] is True
    assert "Limit" not in scan
    assert table.clock.slept == []


# permissions and credentials


@pytest.mark.parametrize(
    ("operation", "action"),
    [("describe_table", "DescribeTable"), ("scan", "Scan"), ("batch_get_item", "BatchGetItem")],
)
def test_a_denied_read_names_the_action_and_its_statement(table, faulty, operation, action):
    faulty.always[operation] = DENIED
    medium = table.medium(faulty)
    with pytest.raises(CannotTell, match=f"no permission for dynamodb:{action}") as caught:
        medium.get(["a"])
        medium.read()
    assert f'"Action": ["dynamodb:{action}"]' in caught.value.next
    assert f"table/{table.name}" in caught.value.next


@EVERY_SHAPE
def test_a_denied_write_is_refused(table, faulty, shape, planted):
    rows, wanted, _ = planted
    names = {"update": "UpdateItem", "create": "PutItem", "delete": "DeleteItem"}
    faulty.always = dict.fromkeys(WRITES, DENIED)
    with pytest.raises(Refused, match=f"dynamodb:{names.get(shape, 'PutItem, UpdateItem')}"):
        table.medium(faulty).write(wanted, "t")
    assert table.medium().read() == rows


@pytest.mark.parametrize("code", [
    "SignatureDoesNotMatch", "ValidationException", "Odd", "ExpiredTokenException",
])  # fmt: skip
def test_no_credential_is_ever_repeated(table, faulty, code):
    text = "Credential=AKIAIOSFODNN7EXAMPLE/20261121/us-east-1 ASIAIOSFODNN7EXAMPLE not valid"
    faulty.always["scan"] = before(answer(code, 400, text))
    with pytest.raises(CannotTell) as caught:
        table.medium(faulty).read()
    said = f"{caught.value.what}\n{caught.value.next}"
    assert "IOSFODNN7EXAMPLE" not in said
    if code.startswith("Expired"):
        assert "credentials are missing, have expired" in said and "aws sso login" in said


def test_no_credentials_at_all(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(CannotTell, match="credentials are missing"):
        medium_of(boto3.Session(region_name="us-east-1"), server).read()


# requests


def test_boto3_itself_never_repeats_a_call() -> None:
    seen: list[str] = []

    class Broken(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.headers["X-Amz-Target"])
            self.send_response(500)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_arguments: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Broken)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        with pytest.raises(CannotTell, match="does not answer"):
            medium_of(session(), f"http://127.0.0.1:{server.server_port}").identity()
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
    assert len(seen) == ATTEMPTS


@TRANSACTION
def test_no_name_and_no_value_stands_in_an_expression(table, faulty, planted):
    assert table.medium(faulty).write(planted[1], "t" * 36) is WriteResult.APPLIED
    ((_, given),) = [call for call in faulty.calls if call[0] == "transact_write_items"]
    assert given["ClientRequestToken"] == "t" * 36
    for entry in given["TransactItems"]:
        ((_, request),) = entry.items()
        text = request["ConditionExpression"] + request.get("UpdateExpression", "")
        assert "lease" not in text and "checkpoint" not in text and "SHARD_END" not in text
        assert "leaseKey" in request["ExpressionAttributeNames"].values()


def test_the_calls_need_the_named_actions_and_no_others(table, faulty):
    medium = table.medium(faulty)
    medium.identity()
    medium.read()
    assert _actions(faulty) == set(ACTIONS["inspect"])
    for rows, wanted in STEPS.values():
        table.plant(*rows)
        table.pull("c")
        medium.get([write.key for write in wanted.writes])
        assert medium.write(wanted, f"token-{wanted.writes}"[:36]) is WriteResult.APPLIED
    assert _actions(faulty) == set(ACTIONS["fix"])


def _actions(faulty: FaultySession) -> set[str]:
    """IAM actions of the calls. A transaction needs those of its parts: DynamoDB Developer
    Guide, "Using IAM with DynamoDB transactions"."""
    found = set()
    for name, given in faulty.calls:
        names = [name.title().replace("_", "")]
        if name == "transact_write_items":
            names = [f"{part}Item" for entry in given["TransactItems"] for part in entry]
        found |= {f"dynamodb:{one}" for one in names}
    return found


# answers that get lost


@pytest.mark.parametrize("fault", TRANSIENT)
@EVERY_SHAPE
def test_a_passing_fault_leaves_the_step_written_once(table, faulty, planted, fault):
    _, wanted, after = planted
    faulty.faults[0] = TRANSIENT[fault]
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert table.medium().read() == after


@EVERY_SHAPE
def test_an_answer_lost_for_good_is_recognised(table, faulty, planted):
    _, wanted, after = planted
    faulty.always = dict.fromkeys(WRITES, TIMEOUT_AFTER)
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert table.medium().read() == after


def test_a_moved_row_after_a_lost_answer_is_nobodys_guess(table, faulty):
    table.plant(row("a"))

    def then_moved(_call: Any) -> Any:
        table.plant(row("a", checkpoint={"S": "LATEST"}))
        raise ReadTimeoutError(endpoint_url=URL)

    faulty.faults[0] = then_moved
    with pytest.raises(AnswerLost, match="someone else has written since: a"):
        table.medium(faulty).write(step(update(row("a"), END, *FULL_GUARD)), "token")


@UPDATE
def test_a_request_that_lands_late_is_recognised(table, faulty, planted):
    """Lost, looked for, not there yet; it lands just before the second one is sent."""
    _, wanted, after = planted
    late: list[Any] = []

    def held(call: Any) -> Any:
        late.append(call)
        raise ReadTimeoutError(endpoint_url=URL)

    def second(call: Any) -> Any:
        late.pop()()
        return call()

    faulty.faults = {0: held, 3: second}
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert [name for name, _ in faulty.calls] == [
        "update_item", "describe_table", "batch_get_item", "update_item", "batch_get_item",
    ]
    assert table.medium().read() == after


@UPDATE
def test_a_guard_that_fails_after_a_lost_answer_wrote_nothing(table, faulty, planted):
    """The row is as before when looked at: the guard judges one that moved for a moment only."""
    rows, wanted, _ = planted
    faulty.faults = {0: TIMEOUT_BEFORE, 3: before(answer("ConditionalCheckFailedException"))}
    assert table.medium(faulty).write(wanted, "token") is WriteResult.CONFLICT
    assert table.medium().read() == rows


@pytest.mark.parametrize(("faults", "always", "words"), [
    ({0: TIMEOUT_AFTER}, {"describe_table": DENIED},
     "the answer was lost, and then reading failed"),
    # The first request may still land, whatever is said to the second.
    *(({0: BROKEN_BEFORE, 3: LASTING[name]}, {}, "an earlier attempt may still land")
      for name in LASTING),
    ({}, {"update_item": TIMEOUT_BEFORE}, "does not answer"),
], ids=["no reading", *(f"then {name}" for name in LASTING), "never an answer"])
@UPDATE
def test_a_write_that_may_have_landed_is_unknown(table, faulty, planted, faults, always, words):
    faulty.faults, faulty.always = faults, always
    with pytest.raises(AnswerLost, match=words):
        table.medium(faulty).write(planted[1], "token")
    times = [name for name, _ in faulty.calls].count("update_item")
    assert times == (ATTEMPTS if "update_item" in always else len(faults))


@pytest.mark.parametrize("fault", ["throttled", "unsent"])
@UPDATE
def test_some_failed_writes_are_known_not_to_be_there(table, faulty, planted, fault):
    faulty.always["update_item"] = TRANSIENT[fault]
    with pytest.raises(CannotTell, match=r"is throttled|does not answer") as caught:
        table.medium(faulty).write(planted[1], "token")
    assert not isinstance(caught.value, AnswerLost)
    assert table.medium().read() == planted[0]


def cancelled(*codes: str) -> Exception:
    """A cancelled transaction as the service answers it (TransactWriteItems API reference)."""
    error = answer("TransactionCanceledException")
    error.response["CancellationReasons"] = [{"Code": code} for code in codes]
    return error


@pytest.mark.parametrize("fault", [
    before(cancelled("None", "TransactionConflict", "None")),
    before(cancelled("ProvisionedThroughputExceeded", "None", "ThrottlingError")),
    before(answer("TransactionInProgressException")),
    after(answer("TransactionInProgressException")),
    before(answer("TransactionConflictException")),
], ids=["conflict", "throttled", "in progress", "in progress, and landed", "another's"])
@TRANSACTION
def test_a_transaction_in_the_way_is_waited_for(table, faulty, planted, fault):
    _, wanted, left = planted
    faulty.faults[0] = fault
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert table.medium().read() == left
    tokens = {g["ClientRequestToken"] for n, g in faulty.calls if n == "transact_write_items"}
    assert tokens == {"token"}


def test_a_condition_that_failed_beside_a_conflict_is_moved(table, faulty):
    faulty.faults[0] = before(cancelled("TransactionConflict", "ConditionalCheckFailed", "None"))
    assert table.medium(faulty).write(STEPS["transaction"][1], "token") is WriteResult.CONFLICT


@pytest.mark.parametrize(("error", "words"), [
    (cancelled("None", "ItemCollectionSizeLimitExceeded", "None"), ".*"),
    (cancelled("ValidationError", "TransactionConflict", "None"), ".*"),
    (answer("ItemCollectionSizeLimitExceededException"), ".*"),
    (answer("ExpiredTokenException"), ".*"),
    (answer("ValidationException", 400, "said why"), "said why"),
], ids=str)  # fmt: skip
@TRANSACTION
def test_what_the_service_refuses_is_refused_and_not_sent_again(
    table, faulty, planted, error, words
):
    """ "The entire transaction request is canceled" for each of its reasons (API reference)."""
    rows, wanted, _ = planted
    faulty.always["transact_write_items"] = before(error)
    with pytest.raises(Refused, match=words):
        table.medium(faulty).write(wanted, "token")
    assert table.medium().read() == rows
    assert [name for name, _ in faulty.calls] == ["transact_write_items"]
