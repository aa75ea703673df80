"""The pictures in a real browser, where there is one: they load whole and without a complaint."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.unit.render.graph.drawing import parsed, rects
from tests.unit.render.graph.samples import report_on, wide_case
from tests.unit.render.graph.written import draw

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine"),
]


@pytest.mark.parametrize("roots", [6, 460])
@pytest.mark.parametrize("form", ["svg", "html"])
def test_a_browser_draws_every_shard(tmp_path, form, roots):
    report = report_on(wide_case(roots))
    page = tmp_path / f"orders.{form}"
    page.write_text(draw(form, report), encoding="utf-8")
    drawn = len(rects(parsed(draw("svg", report))))
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
            "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert len(re.findall(r'data-shard="', done.stdout)) == drawn
    assert "parsererror" not in done.stdout
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints
