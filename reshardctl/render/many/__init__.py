"""Several consumers in the formats that have a module of their own for them."""

from reshardctl.render.many import concise, github, junit, markdown, sarif, text
from reshardctl.render.many.roundup import Entry, Roundup

__all__ = ["Entry", "Roundup", "concise", "github", "junit", "markdown", "sarif", "text"]
