"""An audit in the formats that have a module of their own for it."""

from reshardctl.render.audit import concise, github, junit, markdown, sarif, text

__all__ = ["concise", "github", "junit", "markdown", "sarif", "text"]
