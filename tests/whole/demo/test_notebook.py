"""docs/notebooks/report.ipynb: its cells run in order on the demo, and the report is shown."""

from __future__ import annotations

import ast
import io
import json
import re
import time
from contextlib import redirect_stdout
from html import unescape
from pathlib import Path
from typing import Any

from reshardctl.demo.servers import seeded
from tests.whole.demo.surroundings import surround

NOTEBOOK = Path(__file__).parents[3] / "docs" / "notebooks" / "report.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def code() -> list[str]:
    """The source of each cell that is executed."""
    return ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def execute(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """What a cell prints, and the value of its last line, as a notebook shows both."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102
        if not isinstance(last, ast.Expr):
            return out.getvalue(), None
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    return out.getvalue(), value


def test_the_cells_run_in_order_and_show_the_report(tmp_path, monkeypatch):
    with seeded(time.time()) as endpoints:
        surround(monkeypatch, endpoints, tmp_path)
        names: dict[str, Any] = {"__name__": "notebook"}
        shown, printed, planned = [execute(source, names) for source in code()]
    (page,) = re.findall(r'srcdoc="([^"]*)"', shown[1]._repr_html_())
    assert "RSH203" in unescape(page) and "<svg " in unescape(page)
    assert "error RSH203 child-not-started" in printed[0]
    assert planned[1] == [("leases of 4, 5", 2)]


def test_no_output_is_stored_that_could_be_out_of_date():
    cells = [cell for cell in CELLS if cell["cell_type"] == "code"]
    assert cells and not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    assert len({cell["id"] for cell in CELLS}) == len(CELLS)
