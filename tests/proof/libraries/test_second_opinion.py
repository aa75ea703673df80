"""A second and a third opinion: what two emulators of others make of Kinesis.

kinesis-local (npm) and ferrokinesis (Rust) go through the same scenes as FakeKinesis. Where an
emulator answers otherwise is written down in its own table, and only there: kinesis_local/
deviations.py and ferrokinesis/deviations.py, each row with who is right and who says so.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from reshardctl.testing import FakeKinesis, serve
from tests.proof.libraries.ferrokinesis.deviations import DEVIATIONS as OF_FERROKINESIS
from tests.proof.libraries.ferrokinesis.server import ferrokinesis
from tests.proof.libraries.kinesis_local.deviations import DEVIATIONS as OF_KINESIS_LOCAL
from tests.proof.libraries.second_opinion.deviation import Deviations, Wrong
from tests.proof.libraries.second_opinion.emulator import ACCOUNT, REGION
from tests.proof.libraries.second_opinion.scene import Answers
from tests.proof.libraries.second_opinion.scenes import SCENES
from tests.proof.libraries.second_opinion.service import Service, client

pytestmark = pytest.mark.interop

PAGE = Path(__file__).parents[2] / "README.md"
TABLES: dict[str, Deviations] = {
    "kinesis-local": OF_KINESIS_LOCAL,
    "ferrokinesis": OF_FERROKINESIS,
}


@pytest.fixture(scope="module")
def ours() -> Iterator[Callable[[str], Answers]]:
    """What FakeKinesis answers in a scene, which it is asked once."""
    known: dict[str, Answers] = {}
    fake = FakeKinesis(account=ACCOUNT, region=REGION)
    with serve(fake) as server:
        service = Service(client(server.url), fake)

        def answers(scene: str) -> Answers:
            if scene not in known:
                known[scene] = SCENES[scene](service)
            return known[scene]

        yield answers


def test_the_emulator_is_on_loopback_alone(emulator_url: str) -> None:
    """A server on all addresses answers on this one too."""
    port = int(emulator_url.rpartition(":")[2])
    socket.create_connection(("127.0.0.1", port), timeout=10).close()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", port), timeout=10)


def rows(emulator: str, scene: str) -> Deviations:
    return {row: known for row, known in TABLES[emulator].items() if row[0] == scene}


@pytest.mark.parametrize("scene", SCENES)
def test_the_emulator_answers_as_we_do_but_for_its_table(
    emulator: str, scene: str, theirs: Service, ours: Callable[[str], Answers]
) -> None:
    wanted = dict(ours(scene))
    for (_, question), known in rows(emulator, scene).items():
        wanted[question] = known.theirs
    assert SCENES[scene](theirs) == wanted


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", TABLES)
def test_the_table_has_what_fake_kinesis_answers(
    name: str, scene: str, ours: Callable[[str], Answers]
) -> None:
    """It needs no emulator: a row is stale as soon as FakeKinesis answers otherwise."""
    for (_, question), known in rows(name, scene).items():
        assert ours(scene)[question] == known.ours, question
        assert known.theirs != known.ours, f"no deviation: {question!r}"
        assert known.source, f"no source: {question!r}"


@pytest.mark.parametrize("name", TABLES)
def test_the_table_names_scenes(name: str) -> None:
    assert {scene for scene, _ in TABLES[name]} <= set(SCENES)


def test_the_page_counts_the_rows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"the same {len(SCENES)} scenes" in page
    for name, table in TABLES.items():
        unknown = sum(known.wrong is Wrong.UNKNOWN for known in table.values())
        assert re.search(rf"^\| {name} [\d.]+ \| \[{len(table)}\]\S+ \| {unknown} \|$", page, re.M)
    # "FakeKinesis differs from AWS in one answer": both tables have it.
    assert {
        question for table in TABLES.values() for question, known in table.items()
        if known.wrong in (Wrong.US, Wrong.BOTH)
    } == {("iterators", "at, after nonsense")}  # fmt: skip


_TIME = r"\w{3} \w{3} \d{2} \d{2}:\d{2}:\d{2} UTC \d{4}"
_EXPIRED = (
    rf"Iterator expired\. The iterator was created at time {_TIME} while right now it is {_TIME} "
    r"which is further in the future than the tolerated delay of (\d+) milliseconds\."
)
"""kinesalite, test/getRecords.js: ExpiredIteratorException."""


def expiry(service: Service, wait: Callable[[float], object], life: float) -> tuple[str, int]:
    """The code of an iterator that is too old, and how many milliseconds it lived."""
    token = service.iterator(service.stream(1), 0, "LATEST")
    service.boto.get_records(ShardIterator=token)
    wait(life + 1)
    with pytest.raises(ClientError) as refused:
        service.boto.get_records(ShardIterator=token)
    error = refused.value.response["Error"]
    said = re.fullmatch(_EXPIRED, error["Message"])
    assert said, error["Message"]
    return error["Code"], int(said[1])


@pytest.mark.needs("ferrokinesis")
def test_iterators_run_out_alike(tmp_path: Path) -> None:
    """The life is an option of ferrokinesis; those of kinesis-local live for five minutes."""
    fake = FakeKinesis(account=ACCOUNT, region=REGION)
    with serve(fake) as server:
        ours = expiry(Service(client(server.url), fake), fake.clock.advance, 300)
    with ferrokinesis(tmp_path / "log", iterator_seconds=2) as address:
        theirs = expiry(Service(client(address)), time.sleep, 2)
    assert ours == ("ExpiredIteratorException", 300_000)
    assert theirs == ("ExpiredIteratorException", 2_000)
