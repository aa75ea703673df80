"""Every Quickwit case from end to end, on a metastore file: inspect, fix, fix again, undo.

What has to come out is in the case files, which cite the runs on the real releases.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.quickwit_lab import GOLDEN, QuickwitLab
from tests.support.case import Case, Expect, all_cases
from tests.support.dialects import quickwit as dialect
from tests.support.judging import asked

TEMPLATE = GOLDEN / "0.8.2" / "q1" / "metastore" / "events" / "metastore.json"


def _params():
    for case in all_cases("quickwit"):
        for place, expect in enumerate(case.expects):
            if expect.fixed is not None:
                release = expect.releases[0]
                yield pytest.param(case, expect, release, id=f"{case.name}-{release}-{place}")


def _planted(root: Path, case: Case) -> Path:
    """A file that the real metastore wrote, with the case's source in it, printed as it prints."""
    text = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    index = text["index"]
    (source,) = index["sources"]
    source["params"]["stream_name"] = case.stream["name"]
    if dialect.backfill(case):
        source["params"]["enable_backfill_mode"] = True
    positions = dialect.stored(case)
    index["checkpoint"] = {} if positions is None else {
        "kinesis-events": dict(sorted(positions.items()))
    }
    path = root / "events" / "metastore.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(text, indent=2, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.mark.long
@pytest.mark.parametrize(("case", "expect", "release"), list(_params()))
def test_a_case_from_end_to_end(lab_of, tmp_path, case: Case, expect: Expect, release: str):
    assert expect.fixed is not None
    base, fixed = lab_of("healthy-roots"), expect.fixed
    lab = _lab(base, case, tmp_path / "indexes", f"?release={release}")
    path = _planted(lab.root, case)
    before = path.read_bytes()
    probe = ["--probe"] if expect.probe else []
    seen = lab.inspect("--format", "json", *probe)
    assert seen.codes == set(expect.findings), seen.err
    said = ["--policy", asked(case, fixed.policy).text, *probe]
    said += ["--accept", fixed.accept]
    done = lab.fix(*said, "--format", "json")
    if fixed.refused:
        assert done.code == (4 if fixed.refused.startswith("ask:") else 1), done.err
        assert path.read_bytes() == before
        return
    assert done.code in (0, 1), done.err
    _check(case, expect, path)
    assert lab.dry(*said, "--format", "json").json["decision"]["kind"] == "nothing"
    assert lab.inspect("--format", "json", *probe).codes == set(fixed.remains)
    if fixed.writes:
        assert lab.undo().code == 0
    assert path.read_bytes() == before


def _lab(base, case: Case, root: Path, options: str) -> QuickwitLab:
    from reshardctl.testing import load_topology

    base.fake = load_topology(case.stream)
    base.servers.switchboard.fake = base.fake
    return base.beside(QuickwitLab, stream=case.stream["name"], options=options, root=root)


def _check(case: Case, expect: Expect, path: Path) -> None:
    """The map is as a hand would have written it, and printed as Quickwit prints it."""
    text = path.read_bytes().decode()
    found = json.loads(text)
    assert expect.fixed is not None
    wanted = dialect.mended(case, expect.fixed.writes)
    assert found["index"]["checkpoint"].get("kinesis-events") == wanted
    assert json.dumps(found, indent=2, ensure_ascii=False) == text


def test_positions_of_an_earlier_stream_go_out_when_that_is_said(lab_of, tmp_path):
    """Deleted and made again under its name: Kinesis refuses every number, both releases stall."""
    (case,) = [case for case in all_cases("quickwit") if case.name == "recreated"]
    lab = _lab(lab_of("healthy-roots"), case, tmp_path / "indexes", "?release=0.9.0")
    path = _planted(lab.root, case)
    before = path.read_bytes()
    assert lab.fix().code == 4
    done = lab.fix("--recreated", lab.created, "--format", "json")
    assert done.code == 0, done.err + done.out
    assert b'\n      "kinesis-events": {}\n' in path.read_bytes()
    assert lab.inspect("--format", "json").codes == set()
    assert lab.undo().code == 0
    assert path.read_bytes() == before
