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
    CLOSED_AFTER,
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

LOST = {name: TRANSIENT[name] for name in ("500-after", "timeout-after", "closed-after")}
FULL_GUARD = ("checkpoint", "leaseCounter")


@pytest.fixture
def table(server: str) -> LeaseTable:
    return LeaseTable(server)


@pytest.fixture
def faulty() -> FaultySession:
    return FaultySession(session())


def steps() -> dict[str, tuple[list[Image], Step]]:
    """Rows to begin with, and a step over them, of every shape that a request can have."""
    a, b = row("a", leaseOwner={"S": "w1"}), row("b")
    return {
        "update": ([a], step(update(a, END, *FULL_GUARD))),
        "create": ([], step(create(row("c")))),
        "delete": ([a], step(delete(a, *FULL_GUARD))),
        "transaction": (
            [a, b],
            step(update(a, END, *FULL_GUARD), delete(b, *FULL_GUARD), create(row("c"))),
        ),
    }


def result(images: list[Image], done: Step) -> list[Image]:
    """The rows after a step, written apart from `model.after`."""
    rows = {image.key: image for image in images}
    for write in done.writes:
        left = changed(rows.pop(write.key, None), write)
        rows |= {write.key: left} if left else {}
    return [rows[key] for key in sorted(rows)]


# identity and the wrong table


def test_identity_names_the_very_table(table: LeaseTable) -> None:
    described = table.boto.describe_table(TableName=table.name)["Table"]
    found = table.medium().identity()
    assert found["arn"] == described["TableArn"]
    assert found["created"].endswith("Z")


def test_what_dynamodb_adds_to_items_of_a_global_table_is_no_part_of_them(
    table: LeaseTable,
) -> None:
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


def test_identity_has_the_table_id_where_there_is_one(
    table: LeaseTable, faulty: FaultySession
) -> None:
    described = table.boto.describe_table(TableName=table.name)
    described["Table"]["TableId"] = "5f8b9a3e-0000-4000-8000-000000000000"
    faulty.always["describe_table"] = lambda _call: described
    assert table.medium(faulty).identity()["id"] == "5f8b9a3e-0000-4000-8000-000000000000"


@pytest.mark.parametrize("more", [{}, {"RestoreSummary": {"RestoreInProgress": False}},
                                  {"Replicas": [{"RegionName": "eu-west-1"}]}])
def test_a_table_that_may_hold_older_rows_does_not_tell_when_it_was_made_empty(
    table: LeaseTable, faulty: FaultySession, more: dict[str, Any]
) -> None:
    """RestoreSummary and Replicas of DescribeTable (API reference)."""
    described = table.boto.describe_table(TableName=table.name)
    made = described["Table"]["CreationDateTime"].timestamp()
    described["Table"] |= more
    faulty.always["describe_table"] = lambda _call: described
    assert table.medium(faulty).made_at() == (None if more else made)


def test_a_side_table_that_may_not_be_read_is_a_row_that_says_so(
    table: LeaseTable, faulty: FaultySession
) -> None:
    table.plant(row("a"))
    faulty.always["get_item"] = DENIED
    medium = DynamoDb(
        faulty, table.name, endpoint_url=table.url, clock=table.clock.read,
        sleep=table.clock.sleep, side=[SideTable("state", "key", ("Migration",))],
    )  # type: ignore[arg-type]
    (_, unread) = medium.read()
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
        DynamoDb(boto3.Session(), "leases", clock=Clock().read, sleep=Clock().sleep)


def test_the_region_given_counts(server: str) -> None:
    there = DynamoDb(
        session(), "t", region="eu-west-1", endpoint_url=server,
        clock=Clock().read, sleep=Clock().sleep,
    )
    with pytest.raises(UsageError, match="no table t in eu-west-1"):
        there.read()


# whole reads or none


def test_reads_are_consistent(table: LeaseTable, faulty: FaultySession) -> None:
    table.plant(row("a"))
    table.medium(faulty).read()
    table.medium(faulty).get(["a"])
    (scan,) = [given for name, given in faulty.calls if name == "scan"]
    (batch,) = [given for name, given in faulty.calls if name == "batch_get_item"]
    assert scan["ConsistentRead"] is True
    assert batch["RequestItems"][table.name]["ConsistentRead"] is True


def test_sets_inside_are_in_order_too(table: LeaseTable) -> None:
    inside = {"M": {"set": {"SS": ["z", "a"]}, "list": {"L": [{"NS": ["2", "1"]}]}}}
    table.plant(Image("a", {"leaseKey": {"S": "a"}, "map": inside}))
    (found,) = table.medium().read()
    assert found.attributes["map"] == {
        "M": {"set": {"SS": ["a", "z"]}, "list": {"L": [{"NS": ["1", "2"]}]}}
    }


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_read_outlives_a_passing_fault(
    table: LeaseTable, faulty: FaultySession, name: str
) -> None:
    table.plant(row("a"))
    faulty.faults = {0: TRANSIENT[name], 2: TRANSIENT[name], 4: TRANSIENT[name]}
    medium = table.medium(faulty)
    assert medium.read() == [row("a")]
    assert medium.get(["a"]) == {"a": row("a")}
    assert [operation for operation, _ in faulty.calls] == [
        *["describe_table"] * 2, *["scan"] * 2, *["batch_get_item"] * 2,
    ]


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_lasting_fault_ends_a_read(
    table: LeaseTable, faulty: FaultySession, name: str
) -> None:
    faulty.always["scan"] = TRANSIENT[name]
    with pytest.raises(CannotTell, match=f"reading page 1: table .*{ATTEMPTS} attempts"):
        table.medium(faulty).read()
    assert len(faulty.calls) == 1 + ATTEMPTS
    assert len(table.clock.slept) == ATTEMPTS - 1


@pytest.mark.parametrize("fault", [DENIED, EXPIRED, THROTTLED, TIMEOUT_BEFORE])
def test_a_failed_page_is_never_a_short_table(
    table: LeaseTable, faulty: FaultySession, fault: Any
) -> None:
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


def test_keys_that_stay_unprocessed_are_not_absent(
    table: LeaseTable, faulty: FaultySession
) -> None:
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


def test_an_on_demand_table_is_not_waited_for(table: LeaseTable, faulty: FaultySession) -> None:
    table.plant(row("a"))
    table.medium(faulty).read()
    (scan,) = [given for name, given in faulty.calls if name == "scan"]
    assert "Limit" not in scan
    assert table.clock.slept == []


# permissions and credentials


@pytest.mark.parametrize(
    ("operation", "action"),
    [("describe_table", "DescribeTable"), ("scan", "Scan"), ("batch_get_item", "BatchGetItem")],
)
def test_a_denied_read_names_the_action_and_its_statement(
    table: LeaseTable, faulty: FaultySession, operation: str, action: str
) -> None:
    faulty.always[operation] = DENIED
    medium = table.medium(faulty)
    with pytest.raises(CannotTell, match=f"no permission for dynamodb:{action}") as caught:
        medium.get(["a"])
        medium.read()
    assert f'"Action": ["dynamodb:{action}"]' in caught.value.next
    assert f"table/{table.name}" in caught.value.next


@pytest.mark.parametrize("shape", ["update", "create", "delete", "transaction"])
def test_a_denied_write_is_refused(table: LeaseTable, faulty: FaultySession, shape: str) -> None:
    rows, wanted = steps()[shape]
    for image in rows:
        table.plant(image)
    names = {"update": "UpdateItem", "create": "PutItem", "delete": "DeleteItem"}
    faulty.always = dict.fromkeys(
        ("update_item", "put_item", "delete_item", "transact_write_items"), DENIED
    )
    with pytest.raises(Refused, match=f"dynamodb:{names.get(shape, 'PutItem, UpdateItem')}"):
        table.medium(faulty).write(wanted, "t")
    assert table.medium().read() == rows


def test_expired_credentials_say_so(table: LeaseTable, faulty: FaultySession) -> None:
    faulty.always["scan"] = EXPIRED
    with pytest.raises(CannotTell, match="credentials are missing, have expired") as caught:
        table.medium(faulty).read()
    assert "aws sso login" in caught.value.next


def test_no_credentials_at_all(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    bare = boto3.Session(region_name="us-east-1")
    medium = DynamoDb(bare, "t", endpoint_url=server, clock=Clock().read, sleep=Clock().sleep)
    with pytest.raises(CannotTell, match="credentials are missing"):
        medium.read()


@pytest.mark.parametrize("code", ["SignatureDoesNotMatch", "ValidationException", "Odd"])
def test_no_credential_is_ever_repeated(
    table: LeaseTable, faulty: FaultySession, code: str
) -> None:
    text = "Credential=AKIAIOSFODNN7EXAMPLE/20261121/us-east-1 ASIAIOSFODNN7EXAMPLE not valid"
    faulty.always["scan"] = before(answer(code, 400, text))
    with pytest.raises(CannotTell) as caught:
        table.medium(faulty).read()
    assert "IOSFODNN7EXAMPLE" not in caught.value.what + caught.value.next


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
    clock = Clock()
    url = f"http://127.0.0.1:{server.server_port}"
    medium = DynamoDb(session(), "t", endpoint_url=url, clock=clock.read, sleep=clock.sleep)
    try:
        with pytest.raises(CannotTell, match="does not answer"):
            medium.identity()
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
    assert len(seen) == ATTEMPTS


def test_no_name_and_no_value_stands_in_an_expression(
    table: LeaseTable, faulty: FaultySession
) -> None:
    rows, wanted = steps()["transaction"]
    for image in rows:
        table.plant(image)
    assert table.medium(faulty).write(wanted, "t" * 36) is WriteResult.APPLIED
    ((_, given),) = [call for call in faulty.calls if call[0] == "transact_write_items"]
    assert given["ClientRequestToken"] == "t" * 36
    for entry in given["TransactItems"]:
        ((_, request),) = entry.items()
        text = request["ConditionExpression"] + request.get("UpdateExpression", "")
        assert "lease" not in text and "checkpoint" not in text and "SHARD_END" not in text
        assert "leaseKey" in request["ExpressionAttributeNames"].values()


def test_the_calls_need_the_named_actions_and_no_others(
    table: LeaseTable, faulty: FaultySession
) -> None:
    medium = table.medium(faulty)
    medium.identity()
    medium.read()
    assert _actions(faulty) == set(ACTIONS["inspect"])
    for rows, wanted in steps().values():
        for image in rows:
            table.plant(image)
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
@pytest.mark.parametrize("shape", ["update", "create", "delete", "transaction"])
def test_a_passing_fault_leaves_the_step_written_once(
    table: LeaseTable, faulty: FaultySession, shape: str, fault: str
) -> None:
    rows, wanted = steps()[shape]
    for image in rows:
        table.plant(image)
    faulty.faults[0] = TRANSIENT[fault]
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert table.medium().read() == result(rows, wanted)


@pytest.mark.parametrize("shape", ["update", "create", "delete", "transaction"])
def test_an_answer_lost_for_good_is_recognised(
    table: LeaseTable, faulty: FaultySession, shape: str
) -> None:
    rows, wanted = steps()[shape]
    for image in rows:
        table.plant(image)
    for name in ("update_item", "put_item", "delete_item", "transact_write_items"):
        faulty.always[name] = TIMEOUT_AFTER
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert table.medium().read() == result(rows, wanted)


def test_a_moved_row_after_a_lost_answer_is_nobodys_guess(
    table: LeaseTable, faulty: FaultySession
) -> None:
    table.plant(row("a"))

    def then_moved(_call: Any) -> Any:
        table.plant(row("a", checkpoint={"S": "LATEST"}))
        raise ReadTimeoutError(endpoint_url=URL)

    faulty.faults[0] = then_moved
    with pytest.raises(AnswerLost, match="someone else has written since: a"):
        table.medium(faulty).write(step(update(row("a"), END, *FULL_GUARD)), "token")


def test_a_request_that_lands_late_is_recognised(
    table: LeaseTable, faulty: FaultySession
) -> None:
    """Lost, looked for, not there yet; it lands just before the second one is sent."""
    table.plant(row("a"))
    late: list[Any] = []

    def held(call: Any) -> Any:
        late.append(call)
        raise ReadTimeoutError(endpoint_url=URL)

    def second(call: Any) -> Any:
        late.pop()()
        return call()

    wanted = step(update(row("a"), END, *FULL_GUARD))
    faulty.faults = {0: held, 3: second}
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert [name for name, _ in faulty.calls] == [
        "update_item", "describe_table", "batch_get_item", "update_item", "batch_get_item",
    ]
    assert table.medium().read() == result([row("a")], wanted)


def test_a_guard_that_fails_after_a_lost_answer_wrote_nothing(
    table: LeaseTable, faulty: FaultySession
) -> None:
    """Lost before it landed, and the row as before when looked at: the guard judges a row that
    moved for a moment only."""
    table.plant(row("a"))
    failed = before(answer("ConditionalCheckFailedException"))
    faulty.faults = {0: TIMEOUT_BEFORE, 3: failed}
    wanted = step(update(row("a"), END, *FULL_GUARD))
    assert table.medium(faulty).write(wanted, "token") is WriteResult.CONFLICT
    assert table.medium().read() == [row("a")]


def test_a_lost_answer_and_then_no_reading_is_unknown(
    table: LeaseTable, faulty: FaultySession
) -> None:
    table.plant(row("a"))
    faulty.faults[0] = TIMEOUT_AFTER
    faulty.always = {"describe_table": DENIED}
    with pytest.raises(AnswerLost, match="the answer was lost, and then reading failed"):
        table.medium(faulty).write(step(update(row("a"), END)), "token")


@pytest.mark.parametrize("name", LASTING)
def test_a_refusal_after_a_lost_answer_is_no_refusal(
    table: LeaseTable, faulty: FaultySession, name: str
) -> None:
    """The first request may still land, whatever is said to the second."""
    table.plant(row("a"))
    faulty.faults = {0: BROKEN_BEFORE, 3: LASTING[name]}
    with pytest.raises(AnswerLost, match="an earlier attempt may still land"):
        table.medium(faulty).write(step(update(row("a"), END, *FULL_GUARD)), "token")


def test_a_store_that_never_answers_leaves_it_unknown(
    table: LeaseTable, faulty: FaultySession
) -> None:
    table.plant(row("a"))
    faulty.always["update_item"] = TIMEOUT_BEFORE
    with pytest.raises(AnswerLost, match="does not answer"):
        table.medium(faulty).write(step(update(row("a"), END, *FULL_GUARD)), "token")
    assert [name for name, _ in faulty.calls].count("update_item") == ATTEMPTS


@pytest.mark.parametrize("fault", ["throttled", "unsent"])
def test_some_failed_writes_are_known_not_to_be_there(
    table: LeaseTable, faulty: FaultySession, fault: str
) -> None:
    table.plant(row("a"))
    faulty.always["update_item"] = TRANSIENT[fault]
    with pytest.raises(CannotTell, match=r"is throttled|does not answer") as caught:
        table.medium(faulty).write(step(update(row("a"), END, *FULL_GUARD)), "token")
    assert not isinstance(caught.value, AnswerLost)
    assert table.medium().read() == [row("a")]


def cancelled(*codes: str) -> Exception:
    """A cancelled transaction as the service answers it (TransactWriteItems API reference)."""
    error = answer("TransactionCanceledException")
    error.response["CancellationReasons"] = [{"Code": code} for code in codes]
    return error


@pytest.mark.parametrize(
    "error",
    [
        cancelled("None", "TransactionConflict", "None"),
        cancelled("ProvisionedThroughputExceeded", "None", "ThrottlingError"),
        answer("TransactionInProgressException"),
        answer("TransactionConflictException"),
    ],
)
def test_a_transaction_in_the_way_is_waited_for(
    table: LeaseTable, faulty: FaultySession, error: Exception
) -> None:
    rows, wanted = steps()["transaction"]
    for image in rows:
        table.plant(image)
    faulty.faults[0] = before(error)
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert table.medium().read() == result(rows, wanted)
    tokens = {g["ClientRequestToken"] for n, g in faulty.calls if n == "transact_write_items"}
    assert tokens == {"token"}


def test_an_attempt_still_in_progress_may_have_landed(
    table: LeaseTable, faulty: FaultySession
) -> None:
    rows, wanted = steps()["transaction"]
    for image in rows:
        table.plant(image)
    faulty.faults[0] = after(answer("TransactionInProgressException"))
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED


def test_a_condition_that_failed_beside_a_conflict_is_moved(
    table: LeaseTable, faulty: FaultySession
) -> None:
    _, wanted = steps()["transaction"]
    faulty.faults[0] = before(cancelled("TransactionConflict", "ConditionalCheckFailed", "None"))
    assert table.medium(faulty).write(wanted, "token") is WriteResult.CONFLICT


def test_a_request_that_is_wrong_is_not_repeated(
    table: LeaseTable, faulty: FaultySession
) -> None:
    faulty.always["update_item"] = before(answer("ValidationException", 400, "said why"))
    with pytest.raises(Refused, match="said why"):
        table.medium(faulty).write(step(update(row("a"), END)), "token")
    assert len(faulty.calls) == 1


@pytest.mark.parametrize("error", [
    cancelled("None", "ItemCollectionSizeLimitExceeded", "None"),
    cancelled("ValidationError", "TransactionConflict", "None"),
    answer("ItemCollectionSizeLimitExceededException"),
    answer("ExpiredTokenException"),
], ids=str)  # fmt: skip
def test_what_the_service_refuses_is_refused(
    table: LeaseTable, faulty: FaultySession, error: Exception
) -> None:
    """ "The entire transaction request is canceled" for each of its reasons (API reference)."""
    rows, wanted = steps()["transaction"]
    for image in rows:
        table.plant(image)
    faulty.always["transact_write_items"] = before(error)
    with pytest.raises(Refused):
        table.medium(faulty).write(wanted, "token")
    assert table.medium().read() == rows
    assert [name for name, _ in faulty.calls].count("transact_write_items") == 1


def test_the_connection_closed_by_the_other_end_is_looked_after(
    table: LeaseTable, faulty: FaultySession
) -> None:
    table.plant(row("a"))
    faulty.faults[0] = CLOSED_AFTER
    wanted = step(update(row("a"), END, *FULL_GUARD))
    assert table.medium(faulty).write(wanted, "token") is WriteResult.APPLIED
    assert table.medium().read() == result([row("a")], wanted)
