"""How the stores of the libraries are laid out, for the media that cannot know: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reshardctl.model import Codec, Select

Options = Mapping[str, str]
"""A locator's."""

SELECTS: Mapping[str, Callable[[Options], Select]] = {}
"""Consumer → which files of its tree have to be seen."""

CODECS: Mapping[str, Callable[[Options], Codec]] = {}
"""Consumer → how rows lie in its one text."""
