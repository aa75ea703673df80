"""Counts the red pixels of boxes in an SVG as Chromium draws it on a canvas."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path

from tests.unit.render.graph.drawing import Rect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DARK = ("--blink-settings=preferredColorScheme=0",)
"""Chromium as with a dark theme of the system."""

PAGE = """<!DOCTYPE html><style>:root{color-scheme:%(scheme)s}</style><pre id="out">not done</pre>
<script>
const boxes = %(boxes)s, scale = %(scale)s, image = new Image();
image.onload = () => {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(image.naturalWidth * scale);
  canvas.height = Math.ceil(image.naturalHeight * scale);
  const context = canvas.getContext("2d", {willReadFrequently: true}), counts = {};
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  for (const [name, [x, y, width, height]] of Object.entries(boxes)) {
    const left = Math.floor(x * scale), top = Math.floor(y * scale);
    const pixels = context.getImageData(left, top, Math.ceil((x + width) * scale) - left,
                                        Math.ceil((y + height) * scale) - top).data;
    counts[name] = 0;
    for (let at = 0; at < pixels.length; at += 4)
      if (pixels[at] > 140 && pixels[at + 1] < 110 && pixels[at + 2] < 120) counts[name]++;
  }
  document.getElementById("out").textContent = JSON.stringify(counts);
};
image.src = "data:image/svg+xml;base64,%(image)s";
</script>
"""


def dumped(page: Path, profile: Path, flags: Sequence[str] = ()) -> str:
    """The page's markup after its script has run. flags: further ones for Chromium."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
            "--disable-background-networking", f"--user-data-dir={profile}",
            "--virtual-time-budget=60000", *flags, "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, check=True, timeout=180,
    )  # fmt: skip
    return done.stdout


def red_pixels(
    svg: str, boxes: Mapping[str, Rect], folder: Path, *, scale: float = 1.0, dark: bool = False
) -> dict[str, int]:
    """For each box, how many of its pixels are red. scale: screen pixels for one of the SVG."""
    page = folder / "count.html"
    page.write_text(PAGE % {
        "scheme": "dark" if dark else "light", "scale": scale,
        "boxes": json.dumps({n: [b.x, b.y, b.width, b.height] for n, b in boxes.items()}),
        "image": base64.b64encode(svg.encode()).decode(),
    }, encoding="utf-8")  # fmt: skip
    markup = dumped(page, folder / "profile", DARK if dark else ())
    out = re.search(r'<pre id="out">(.*?)</pre>', markup, re.DOTALL)
    assert out is not None
    counts: dict[str, int] = json.loads(unescape(out[1]))
    return counts
