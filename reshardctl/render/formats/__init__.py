"""The formats of results: one file a format, whose writer turns a document into text.

A format is chosen by `--format`; `reshardctl.render` imports the writer that is asked for only.
"""
