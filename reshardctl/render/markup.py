"""Elements of SVG and HTML, with nothing in them that could become markup, and the frame of a page.

The colours of the pictures are light and dark; all is ASCII, and nothing comes from elsewhere. In a
notebook, a page stands in a frame of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape as html_escape

from reshardctl.diagnosis.rules import Finding
from reshardctl.render.escape import escape
from reshardctl.render.words import about, sentence, shortened

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_TABLE = str.maketrans(_ENTITIES)


def safe(text: str) -> str:
    """The text for an element or an attribute: marks as entities, unseen characters spelled."""
    return escape(text).translate(_TABLE)


def lines(texts: list[str]) -> str:
    """Several lines of one element's text."""
    return "\n".join(safe(text) for text in texts)


def px(value: float) -> str:
    """A length to a thousandth of a pixel, without idle zeros."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def ascii_markup(markup: str) -> str:
    """Other characters as numbers: right in whatever encoding it is stored."""
    return markup.encode("ascii", "xmlcharrefreplace").decode("ascii")


STYLE = """
.reshard{--paper:#fff;--ink:#1c2733;--faint:#6b7785;--grid:#e4e9ee;--closed:#d3dbe3;
--open:#b4d0ea;--edge:#fff;--unread:#e08700;--unread-wash:#f7b53c;--lost:#c4162a;--lost-fill:#c4162a;--may:#c4162a;
--line:#0b3d91;background:var(--paper);
font-family:ui-sans-serif,system-ui,"Segoe UI","DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){.reshard{--paper:#12171d;--ink:#e6ebf0;--faint:#93a0ae;
--grid:#232c36;--closed:#3a4551;--open:#2b587f;--edge:#12171d;--unread:#ffb52e;
--unread-wash:#b87a00;--lost:#ff4d5e;--lost-fill:#c92a3a;--may:#ff7a86;--line:#ffe9a8}}
:root.reshard{max-width:100%;height:auto}
@media print{.reshard{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
.reshard text{fill:var(--ink);font-size:12px}
.reshard .title{font-size:15px;font-weight:600}
.reshard .axis{fill:var(--faint);font-size:11px}
.reshard .grid{stroke:var(--grid);stroke-width:1}
.reshard .now{stroke:var(--faint);stroke-width:1;stroke-dasharray:3 3}
.reshard .limit{stroke:var(--ink);stroke-width:1.4;stroke-dasharray:7 4}
.reshard .closed>.life{fill:var(--closed)}
.reshard .open>.life{fill:var(--open)}
.reshard .life{stroke:var(--edge);stroke-width:1.2}
.reshard .thin>.life{stroke-width:.4}
.reshard .shard:hover>.life{stroke:var(--ink)}
.reshard .orphan{stroke:var(--faint);stroke-width:2;stroke-dasharray:3 2}
.reshard .unread{fill:url(#reshard-unread)}
.reshard .perhaps{fill:url(#reshard-perhaps)}
.reshard .lost{fill:var(--lost-fill);fill-opacity:.82}
.reshard .may{fill:url(#reshard-may)}
.reshard .lost,.reshard .may{stroke:var(--lost-fill);stroke-width:1.5;
vector-effect:non-scaling-stroke}
.reshard :target{stroke:var(--ink);stroke-width:4}
.reshard .line{fill:none;stroke:var(--line);stroke-width:2.6;stroke-linejoin:round}
.reshard .halo{fill:none;stroke:var(--paper);stroke-width:5;stroke-opacity:.75}
.reshard .tick{stroke:var(--line);stroke-width:2.6}
.reshard .name{pointer-events:none;paint-order:stroke;stroke:var(--edge);stroke-width:.18em;
stroke-opacity:.8;stroke-linejoin:round}
.reshard .on-red{fill:#fff;stroke:none}
.reshard .bad,.reshard .crash{fill:var(--lost);font-weight:600}
.reshard .listed{font-weight:400}
.reshard a:hover .listed{text-decoration:underline}
.reshard .lines{stroke-width:3}
.reshard .wash{fill:var(--unread-wash)}.reshard .stripe{stroke:var(--unread)}
.reshard .red{stroke:var(--may)}
"""

PATTERNS = """<defs>
<pattern id="reshard-unread" width="7" height="7" patternUnits="userSpaceOnUse" \
patternTransform="rotate(45)"><rect class="wash" width="7" height="7" fill-opacity=".45"/>\
<line class="stripe lines" x1="0" y1="0" x2="0" y2="7"/></pattern>
<pattern id="reshard-perhaps" width="7" height="7" patternUnits="userSpaceOnUse" \
patternTransform="rotate(45)"><line class="stripe" x1="0" y1="0" x2="0" y2="7" \
stroke-width="1.4"/></pattern>
<pattern id="reshard-may" width="7" height="7" patternUnits="userSpaceOnUse" \
patternTransform="rotate(-45)"><line class="red" x1="0" y1="0" x2="0" y2="7" \
stroke-width="2"/></pattern>
</defs>
"""

PAGE = """
:root{color-scheme:light dark}
body{margin:0;padding:16px 20px;background:#fff;color:#1c2733;
font:14px/1.45 ui-sans-serif,system-ui,"Segoe UI","DejaVu Sans",sans-serif}
h1{font-size:18px;margin:0 0 2px}
h2{font-size:15px;margin:8px 0 2px}
ol{margin:2px 0;padding-left:28px;max-height:30vh;overflow-y:auto}p{margin:2px 0}
.crash,.bad{color:#c4162a;font-weight:600}.losses{color:#c4162a}.losses a{color:inherit}
.legend{display:flex;flex-wrap:wrap;gap:6px 20px;padding:0;margin:10px 0;list-style:none}
.legend svg{vertical-align:-3px;margin-right:6px;background:none}
.picture>svg{display:block;width:100%;min-width:720px;max-width:1320px;height:auto}
#full:checked~.picture>svg{width:auto;max-width:none}
#twice:checked~.picture>svg{width:200%;min-width:2640px;max-width:none}
.overview{display:block;width:100%;max-width:1320px;height:40vh;max-height:280px;margin:4px 0 10px}
.overview .part{fill:#f3cf8e;stroke:#fff;stroke-width:.5}
.overview .lost,.overview .may{stroke-width:0}
.overview .processed{fill:#b4d0ea;pointer-events:none}
.overview a:hover .part{fill:#e6b14d}
input{margin:0 5px 0 0}label{margin-right:16px}summary{margin-top:14px;cursor:pointer}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin-top:16px;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:3px 14px 3px 0;border-bottom:1px solid #e4e9ee;white-space:nowrap}
th{font-weight:600}
@media (prefers-color-scheme:dark){body{background:#12171d;color:#e6ebf0}
th,td{border-color:#232c36}.crash,.bad,.losses{color:#ff6b79}
.overview .part{fill:#7a5a1c;stroke:#12171d}
.overview .processed{fill:#2b587f}}
@media print{*{-webkit-print-color-adjust:exact;print-color-adjust:exact}body{padding:0}
input,label{display:none}.scroll{overflow:visible}ol{max-height:none}
.picture>svg,#full:checked~.picture>svg,#twice:checked~.picture>svg{width:100%;min-width:0}}
"""


KEY = '<svg class="reshard" width="26" height="14">{}</svg>'
"""The sample of a legend's key."""


def html_page(title: str, body: Iterable[str], style: str = PAGE) -> str:
    """A whole page in ASCII, whose policy forbids loading anything from elsewhere.

    title: not escaped yet. body: lines of markup.
    """
    lines = [
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" '
        'content="default-src \'none\'; style-src \'unsafe-inline\'">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{safe(title)}</title>", f"<style>{style}</style>", "</head>", "<body>",
        *body, "</body>", "</html>",
    ]
    return ascii_markup("\n".join(lines)) + "\n"


def legend(keys: Iterable[tuple[str, str]], first: Iterable[str] = ()) -> list[str]:
    """A list of samples and their meanings, both markup. first: items above them."""
    items = [f"<li>{KEY.format(sample)}{meaning}</li>" for sample, meaning in keys]
    return ['<ul class="legend">', *first, *items, "</ul>"]


def table_head(heads: Iterable[str]) -> Iterator[str]:
    """The beginning of a table that can be scrolled; its rows and end follow. heads: markup."""
    cells = "".join(f"<th>{head}</th>" for head in heads)
    yield from ('<div class="scroll"><table>', f"<thead><tr>{cells}</tr></thead>", "<tbody>")


FINDING_STYLE = """
.finding{margin:8px 0;padding:6px 12px;border-left:4px solid #6b7785}
.finding.error{border-color:#c4162a}.finding.warning{border-color:#e08700}
.finding h3{font-size:14px;margin:0}.when{font-weight:600}
"""


def drawn_finding(finding: Finding, when: str = "") -> Iterator[str]:
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
        f'<iframe srcdoc="{html_escape(page, quote=True)}" sandbox="" '
        f'style="width:100%;height:{height}px;border:0"></iframe>'
    )
