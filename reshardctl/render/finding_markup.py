"""A finding on an HTML page, and the frame in which a notebook shows such a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from reshardctl.diagnosis.rules import Finding
from reshardctl.render.graph.xml import safe
from reshardctl.render.words import about, sentence, shortened

STYLE = """
.finding{margin:8px 0;padding:6px 12px;border-left:4px solid #6b7785}
.finding.error{border-color:#c4162a}.finding.warning{border-color:#e08700}
.finding h3{font-size:14px;margin:0}.when{font-weight:600}
"""


def drawn(finding: Finding, when: str = "") -> Iterator[str]:
    """The markup of a finding. when: until when records are lost, in words."""
    yield f'<div class="finding {safe(str(finding.severity))}">'
    yield f"<h3>{safe(str(finding.severity))} {finding.code} {safe(finding.name)}</h3>"
    for line in (about(finding), finding.costs, finding.helps):
        if line:
            yield f"<p>{safe(sentence(shortened(line)))}</p>"
    if when:
        yield f'<p class="when">{safe(sentence(when))}</p>'
    yield "</div>"


def frame(page: str, height: int) -> str:
    """A page in a frame of its own, in which no script runs and no style leaks either way."""
    return (
        f'<iframe srcdoc="{escape(page, quote=True)}" sandbox="" '
        f'style="width:100%;height:{height}px;border:0"></iframe>'
    )
