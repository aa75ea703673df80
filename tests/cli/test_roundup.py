"""Several consumers in one command: side by side, each judged as alone, none hiding another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from reshardctl.model import Image
from reshardctl.model.times import instant
from reshardctl.render.formats import REPORTS
from reshardctl.testing.requests import ApiError
from tests.cli.lab import TRIM_HORIZON
from tests.support.case import CASES, load
from tests.support.lease_server import LeaseTable
from tests.unit.render.test_json import VALIDATOR

pytestmark = pytest.mark.usefixtures("in_tmp_path")

FORMATS = tuple(REPORTS)


@pytest.fixture
def lab(lab):
    """Two tables on one stream: `broken` lacks both children, `mended` is the same repaired."""
    mended = LeaseTable(lab.servers.dynamodb)
    rows = load(CASES / "kcl" / "a-both.toml").with_writes({2: "TRIM_HORIZON", 3: "TRIM_HORIZON"})
    mended.plant(*(Image(row["leaseKey"]["S"], row) for row in rows))
    lab.mended = f"kcl://{mended.name}{TRIM_HORIZON}"
    yield lab
    mended.boto.delete_table(TableName=mended.name)


def configure(lab, *more: str, stream: str = "") -> None:
    Path("reshardctl.toml").write_text("\n".join([
        "[streams.all-orders]", 'stream = "orders"', stream,
        "[consumers.mended]", 'stream = "all-orders"', f'locator = "{lab.mended}"',
        "[consumers.broken]", 'stream = "all-orders"', f'locator = "{lab.locator}"', *more, "",
    ]), encoding="utf-8")


def lost() -> tuple[str, ...]:
    """A consumer whose table is not there."""
    return ("[consumers.lost]", 'stream = "all-orders"', 'locator = "kcl://no-such-table"')


def suppress(until: str, *more: str) -> tuple[str, ...]:
    return ("[[suppress]]", 'consumer = "broken"', 'rule = "RSH203"', f"until = {until}",
            'why = "replayed by hand, ticket 4711"', *more)  # fmt: skip


def every_format(lab, folder: Path) -> dict[str, str]:
    """What one inspection writes, by the format."""
    paths = {form: folder / f"in.{form}" for form in FORMATS}
    lab.cli("inspect", *(f"--format={form}={path}" for form, path in paths.items()))
    return {form: path.read_text(encoding="utf-8") for form, path in paths.items()}


def judged(lab, *argv: str):
    return lab.cli("inspect", *argv, "--format", "json").json


def test_each_is_judged_as_alone(lab):
    configure(lab)
    alone = lab.inspect("--format", "json").json
    whole = judged(lab)
    names = [entry["name"] for entry in whole["consumers"]]
    assert names == ["mended", "broken"] and whole["exit"]["code"] == 1
    assert whole["consumers"][1]["report"] == alone
    assert whole["consumers"][0]["report"]["findings"] == []
    assert [entry["exit"]["code"] for entry in whole["consumers"]] == [0, 1]
    VALIDATOR.validate(whole)


def test_the_stream_is_listed_once(lab):
    configure(lab)
    lab.inspect()
    alone = [name for _, name in lab.wire.calls]
    lab.wire.calls.clear()
    lab.cli("inspect")
    together = [name for _, name in lab.wire.calls]
    assert alone.count("ListShards") == together.count("ListShards")
    assert together.count("Scan") == 2 * alone.count("Scan")
    assert lab.wire.writes == []


@pytest.mark.parametrize(
    ("words", "names"),
    [([], ["mended", "broken"]), (["all-orders"], ["mended", "broken"]),
     (["broken", "mended"], ["broken", "mended"]), (["broken"], ["broken"]),
     (["broken", "all-orders", "broken"], ["broken", "mended"])],
)  # fmt: skip
def test_names(lab, words, names):
    configure(lab)
    assert [entry["name"] for entry in judged(lab, *words)["consumers"]] == names


def test_locators_side_by_side_need_no_file(lab):
    whole = judged(lab, lab.locator, lab.mended, "--stream", "orders")
    assert [entry["name"] for entry in whole["consumers"]] == [lab.locator, lab.mended]
    assert [entry["origin"] for entry in whole["consumers"]] == [None, None]


def test_one_failure_hides_nothing(lab):
    configure(lab, *lost())
    whole = judged(lab)
    mended, broken, gone = whole["consumers"]
    assert gone["report"] is None and "no-such-table" in gone["error"]["what"]
    assert mended["error"] is None and len(broken["report"]["findings"]) == 1
    assert whole["counts"]["unjudged"] == 1 and whole["exit"]["code"] == 2
    VALIDATOR.validate(whole)


def test_could_not_tell_wins_over_findings(lab):
    """5 > 3 > 4 > 1."""
    configure(lab)
    lab.wire.fail("Scan", "AccessDeniedException", times=1)
    result = lab.cli("inspect", "--format", "json")
    assert result.code == 3
    assert sum(entry["report"] is None for entry in result.json["consumers"]) == 1


def test_a_stream_that_cannot_be_listed_fails_each_of_its_consumers(lab):
    configure(lab, stream='region = "eu-west-1"')
    whole = judged(lab)
    assert all("no stream orders in eu-west-1" in e["error"]["what"] for e in whole["consumers"])


def test_a_role_that_cannot_be_assumed_is_one_line(lab, monkeypatch):
    from tests.cli.test_configured import denied

    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", lab.servers.dynamodb)
    lab.wire.faults.append(("AssumeRole", 0, denied, None))
    role = "arn:aws:iam::123456789012:role/nobody"
    configure(lab, f'role_arn = "{role}"')
    mended, broken = judged(lab)["consumers"]
    assert mended["exit"]["code"] == 0 and broken["exit"]["code"] == 3
    assert role in broken["error"]["what"]


def test_one_table_for_two_consumers(lab):
    """However it is reached: the file cannot tell that two profiles are one account."""
    endpoint = f'endpoint_url = {{ dynamodb = "{lab.servers.dynamodb}" }}'
    configure(lab, "[consumers.again]", 'stream = "all-orders"', f'locator = "{lab.locator}"',
              endpoint)  # fmt: skip
    _, broken, again = judged(lab)["consumers"]
    assert broken["report"] is not None
    assert "is the store of broken, too" in again["error"]["what"]


def test_fail_on(lab):
    configure(lab)
    assert lab.cli("inspect", "--fail-on", "never").code == 0
    assert lab.cli("inspect", "mended").code == 0


def test_the_text(lab, monkeypatch):
    """Shard 1 stands at its second record, of second 460; it is second 1500."""
    configure(lab, *lost())
    text = lab.cli("inspect", "--format", "text").out
    assert text.startswith("orders   us-east-1   retention 24h")
    rows = [line.split() for line in text.splitlines() if line.startswith("  ")]
    assert ["mended", "kcl", "3/3", "17m20s", "ok"] in rows
    assert ["broken", "kcl", "1/3", "17m20s", "1", "error"] in rows
    assert ["lost", "kcl", "?", "?", "cannot", "be", "judged"] in rows
    assert "1 error in 3 consumers.  1 could not be judged.  1 fixable." in text
    assert "reshardctl fix --dry-run --out broken.plan broken" in text
    monkeypatch.setattr("reshardctl.console.output.PIPED_WIDTH", 60)
    narrow = lab.cli("inspect", "--format", "text").out
    prose = [line for line in narrow.splitlines() if "--stream-name" not in line]
    assert max(map(len, prose)) <= 60
    assert "consumer" in narrow and "lost" in narrow


def test_a_stream_has_the_same_name_in_text_and_in_markdown(lab):
    """That on AWS first; the configured one where it is another, by which commands take it."""
    configure(lab, *lost())
    first, _, _ = lab.cli("inspect", "--format", "text").out.partition("\n\n")
    assert first.startswith("orders   ") and "configured as all-orders" in " ".join(first.split())
    page = lab.cli("inspect", "--format", "markdown").out
    assert "## Stream `orders`, configured as `all-orders`\n" in page
    lab.fake.faults.add("*", ApiError("AccessDeniedException", "no"), times=None)
    assert "orders   configured as all-orders   could not be read" in lab.cli(
        "inspect", "--format", "text"
    ).out
    assert "## Stream `orders`, configured as `all-orders`\n" in lab.cli(
        "inspect", "--format", "markdown"
    ).out


def test_a_stream_that_is_named_as_on_aws_has_one_name(lab):
    words = (lab.locator, lab.mended, "--stream", lab.fake.stream("orders").arn)
    assert "configured as" not in lab.cli("inspect", *words, "--format", "text").out
    assert "## Stream `orders`\n" in lab.cli("inspect", *words, "--format", "markdown").out


def test_concise_lines_begin_with_the_place_in_the_file(lab):
    configure(lab, *lost())
    broken, gone = lab.cli("inspect").out.splitlines()
    assert broken.startswith("reshardctl.toml:7: broken 2,3 RSH203 [*] child-not-started: ")
    assert gone.startswith("reshardctl.toml:10: lost cannot be judged: there is no table")


def test_github_annotations_stand_in_the_file(lab):
    configure(lab, *lost())
    *found, last = lab.cli("inspect", "--format", "github").out.splitlines()
    assert [re.match(r"::(\w+) file=reshardctl\.toml,line=(\d+),title=", one).groups()
            for one in found] == [("error", "7"), ("error", "10")]  # fmt: skip
    assert "::broken: kcl://" in found[0] and "title=RSH203 child-not-started" in found[0]
    assert last.startswith("::notice title=reshardctl inspect::1 error in 3 consumers.")


def test_sarif_results_stand_in_the_file(lab):
    configure(lab, *suppress("2099-01-01"))
    runs = lab.cli("inspect", "--format", "sarif").json["runs"]
    assert [len(run["results"]) for run in runs] == [0, 1]
    (result,) = runs[1]["results"]
    physical = [location["physicalLocation"] for location in result["locations"]]
    assert physical == 2 * [{
        "artifactLocation": {"uri": "reshardctl.toml"}, "region": {"startLine": 7},
    }]
    (by,) = result["suppressions"]
    assert by["kind"] == "external" and by["justification"] == "replayed by hand, ticket 4711"
    ids = [run["automationDetails"]["id"] for run in runs]
    assert len(set(ids)) == 2


def test_junit_has_a_suite_a_consumer(lab):
    configure(lab, *lost())
    root = fromstring(lab.cli("inspect", "--format", "junit").out)  # noqa: S314 - our own
    found = [(s.get("name"), s.get("failures"), s.get("errors")) for s in root]
    assert found == [("mended", "0", "0"), ("broken", "1", "0"), ("lost", "0", "1")]


def test_jsonl_lines_have_their_consumer(lab):
    configure(lab, *suppress("2099-01-01"), *lost())
    lines = [json.loads(line) for line in lab.cli("inspect", "--format", "jsonl").out.splitlines()]
    assert [(line["type"], line.get("name")) for line in lines if line["type"] != "write"] == [
        ("header", "mended"), ("summary", "mended"), ("header", "broken"), ("summary", "broken"),
        ("suppressed", "broken"), ("error", "lost"), ("roundup", None),
    ]  # fmt: skip


def test_a_suppressed_finding_is_shown_and_not_counted(lab, tmp_path):
    configure(lab, *suppress("2099-01-01"))
    result = lab.cli("inspect", "--format", "json")
    broken = result.json["consumers"][1]
    assert result.code == 0 and broken["report"]["findings"] == []
    (hidden,) = broken["suppressed"]
    assert hidden["finding"]["code"] == "RSH203"
    assert hidden["by"]["why"] == "replayed by hand, ticket 4711"
    assert hidden["by"]["until"] == "2099-01-02T00:00:00Z"
    assert hidden["by"]["day"] == "2099-01-01"
    VALIDATOR.validate(result.json)
    for form, shown in every_format(lab, tmp_path).items():
        assert form in ("concise", "diff", "github") or "ticket 4711" in shown, form


@pytest.mark.parametrize(("day", "after", "words", "forms"), [
    ("2099-01-01", "2099-01-02", "suppressed until", ("text", "markdown")),
    ("2020-01-01", "2020-01-02", "expired at", ("text", "markdown", "concise", "github")),
])  # fmt: skip
def test_the_day_of_a_suppression_is_shown_as_the_file_gives_it(
    lab, tmp_path, day, after, words, forms
):
    configure(lab, *suppress(day))
    shown = every_format(lab, tmp_path)
    for form in forms:
        said = " ".join(shown[form].split())
        assert f"{words} the end of {day} UTC (" in said and after not in said, form


def test_one_that_ran_out_brings_its_finding_back(lab, tmp_path):
    """As of the moment the rows are read, to the second."""
    now = lab.time()
    configure(lab, *suppress(instant(now)))
    result = lab.cli("inspect", "--format", "json")
    broken = result.json["consumers"][1]
    assert result.code == 1 and len(broken["report"]["findings"]) == 1
    assert [one["rule"] for one in broken["expired"]] == ["RSH203"]
    for form, shown in every_format(lab, tmp_path).items():
        assert "expired at" in shown or form.startswith("json"), form


@pytest.mark.parametrize(("named", "code", "told"), [
    ([2], 1, "hides nothing: the finding is also on shard 3, which it does not name."),
    ([2, 3], 0, ""),
    ([4], 1, "no longer hides a finding; delete it."),
])
def test_one_of_other_shards_hides_nothing(lab, named, code, told):
    configure(lab, *suppress("2099-01-01", f"shards = {named}"))
    shown = lab.cli("inspect", "--format", "text")
    assert shown.code == code
    notes = " ".join(shown.out.split())
    said = re.findall(r"Note: The suppression of RSH203 \(\S+\) (.*?\.) ", notes)
    assert said == ([told] if told else [])


@pytest.mark.parametrize("rule", ["RSH203", "RSH202"])
def test_one_of_fewer_shards_is_not_judged_by_a_look_at_other_rules(lab, rule):
    configure(lab, *suppress("2099-01-01", "shards = [2]"))
    shown = lab.cli("inspect", "broken", "--rule", rule, "--format", "markdown")
    assert ("also on shard 3" in shown.out) == (rule == "RSH203")
    assert "no longer" not in shown.out
    assert ("1 other finding left out." in shown.out) == (rule == "RSH202")


def test_the_same_twice(lab, tmp_path):
    """Whichever thread is first, and on stdout what is in the file."""
    configure(lab, *lost(), *suppress("2099-01-01"))
    first, *others = (every_format(lab, tmp_path) for _ in range(3))
    for form in FORMATS:
        assert all(first[form] == other[form] != "" for other in others), form
    assert lab.cli("inspect", "--format", "json").out == first["json"]


# The picture of several


def test_graph_draws_a_line_each(lab):
    configure(lab)
    svg = lab.cli("graph", "all-orders", "--format", "svg")
    assert svg.code == 0
    assert re.findall(r'data-consumer="(\w+)"', svg.out) == ["mended", "broken"]
    assert lab.cli("graph", "--format", "svg").out.count("data-consumer") == 2
    text = lab.cli("graph", "mended", "broken").out
    assert text.splitlines()[1].startswith("a  mended") and "b no position" in text


def test_graph_names_whom_it_cannot_draw(lab):
    configure(lab, *lost())
    result = lab.cli("graph", "all-orders")
    assert result.code == 2 and "lost is not in the picture" in result.err
    assert "b  broken" in result.out


def test_graph_of_two_streams_or_in_another_format(lab):
    configure(lab)
    result = lab.cli("graph", "--format", "dot")
    assert result.code == 2 and result.says("--format dot", "room for one consumer")
    configure(lab, "[streams.clicks]", "[consumers.c]", 'stream = "clicks"',
              'locator = "kcl://clicks-app"')  # fmt: skip
    result = lab.cli("graph")
    assert result.code == 2 and result.says("2: all-orders, clicks", "graph all-orders")


def test_graph_of_a_stream_alone_needs_no_file(lab):
    alone = lab.cli("graph", "--stream", "orders").out
    configure(lab)
    assert lab.cli("graph", "--stream", "orders").out == alone
