"""MkDocs hooks: pages of the top folder, links into the source, GitHub's way of indenting lists.

The pages are written for GitHub as well, so what differs between the two is done here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
TOP = ("CHANGELOG.md", "CONTRIBUTING.md")
"""Pages that lie beside docs/ and are part of the site."""
LOADED = ("iframe-worker.js", "console.css")
"""What the pages load besides what the theme brings: `mkdocs.yml` says why."""
FENCE = re.compile(r"^( *)(```|~~~)")
ITEM = re.compile(r"^ {0,3}([-*]|\d+\.) ")
LINK = re.compile(r"\[([^\]]+)\]\((\.\./|docs/)?([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Adds pages that the navigation does not name at its end."""
    named = set(re.findall(r"[\w.-]+\.md", str(config.nav)))
    pages = sorted(path.name for path in Path(config.docs_dir).glob("*.md"))
    more = [name for name in pages if name not in named]
    if more:
        config.nav.append({"More": more})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages of the top folder, and what the pages load."""
    for name in TOP:
        content = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=content))
    for name in LOADED:
        content = (ROOT / "docs" / "site" / name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"assets/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Makes a page that is written for GitHub one for the site."""
    top = page.file.src_uri in TOP
    return indented(LINK.sub(lambda link: _linked(link, top), markdown))


def _linked(link: re.Match[str], top: bool) -> str:
    """A link as the site has it: one that leaves docs/ is to a page of TOP, or becomes its text."""
    text, start, path, anchor = link[1], link[2] or "", link[3], link[4] or ""
    if "://" in path or (start == "" and not top) or (top and start == "docs/"):
        return f"[{text}]({path}{anchor})" if start == "docs/" else link[0]
    if path == "README.md":
        return f"[{text}](index.md)"
    return f"[{text}]({path}{anchor})" if path in TOP else text


def indented(markdown: str) -> str:
    """What belongs to an item of a list by two or three spaces, as GitHub has it, by four."""
    lines: list[str] = []
    in_list, fence, more = False, "", 0
    for line in markdown.splitlines():
        mark = FENCE.match(line)
        if fence:
            lines.append(" " * more + line if line else line)
            if mark and line.strip() == fence:
                fence, more = "", 0
            continue
        depth = len(line) - len(line.lstrip(" "))
        if ITEM.match(line) and depth == 0:
            if not in_list and lines and lines[-1]:
                lines.append("")  # Python-Markdown wants a blank line before a list
            in_list = True
        elif line and depth == 0:
            in_list = in_list and bool(lines[-1])  # a lazy continuation, or the end of the list
        more = 4 - depth if in_list and 2 <= depth < 4 else 0
        if mark:
            fence = mark[2]
        lines.append(" " * more + line if line else line)
        more = more if fence else 0
    return "\n".join(lines)
