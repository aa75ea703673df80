"""Converts values to JSON and back, strictly; and requests to the words of a command line.

`strict` checks the members of a document; `values` has the forms of positions, rows and plans in
files; `argv` declares an option at the field of a request, and spells it.

Other rooms import `argv`, `strict`, `values`. Read `strict` first.
"""
