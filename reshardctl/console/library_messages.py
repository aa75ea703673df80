"""Messages of the library that reads the command line, as ours read."""

from __future__ import annotations

import re

PREFIX = "Value error, "
_CHOICE = re.compile(r"'(?P<given>[^']*)' is not one of (?P<known>'[^']*'(?:, '[^']*')*)\.?\Z")


def plain(message: str) -> str:
    """The message without the library's prefix; a mistyped choice gets a similar one."""
    text = message.replace(PREFIX, "")
    if (match := _CHOICE.search(text)) is None:
        return text
    from reshardctl.model.phrases import similar

    near = similar(match["given"], re.findall(r"'([^']*)'", match["known"]))
    return f"{text} Did you mean {near!r}?" if near else text
