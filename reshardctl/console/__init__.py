"""The terminal, and the files that a command writes."""
