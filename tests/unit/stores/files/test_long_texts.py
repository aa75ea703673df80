"""Ten megabytes in one file, as 100 000 shards make an offset line: kept whole, shown in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from reshardctl.codec import values
from reshardctl.codec.strict import JsonPath, parse
from reshardctl.model import Create, Step, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.render.content.writes import write_lines
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.unit.stores.files.trees import everything

NUMBER = "49680412033094866848527506851837432377108706273800486914"
TEXT = f"v1\n{NUMBER}é" + "e" * 10_000_000
WRITE = Write("offsets/8", Create({"text": {"S": TEXT}}), None, "a test")


@pytest.mark.parametrize("verbose", [False, True])
def test_a_long_text_is_shown_by_its_beginning(verbose: bool) -> None:
    lines = write_lines(WRITE, verbose)
    assert all(len(line) < 4100 if verbose else len(line) < 200 for line in lines)
    assert "(10000060 characters)" in lines[-1]
    assert (NUMBER in lines[-1]) is verbose


def test_a_long_text_goes_through_a_plan_into_a_file_and_back(tmp_path: Path) -> None:
    step = Step("a test", (WRITE,))
    source = values.text(values.step_json(step))
    assert values.step(parse(source, JsonPath("plan")), JsonPath("plan")) == step
    tree = Tree(Local(str(tmp_path)), everything)
    assert tree.write(step, "t") is WriteResult.APPLIED
    assert tree.get(["offsets/8"])["offsets/8"].attributes["text"] == {"S": TEXT}
