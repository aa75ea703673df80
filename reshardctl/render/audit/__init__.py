"""An audit: its words, its page, and the formats that have a module of their own for it."""
