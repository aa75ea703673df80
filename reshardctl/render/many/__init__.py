"""Several consumers, and the formats that have a module of their own for them."""

from reshardctl.render.many.roundup import Entry, Roundup

__all__ = ["Entry", "Roundup"]
