"""Converts values to JSON and back, strictly.

`strict` checks the members of a document; `values` has the forms of positions, rows and plans in
files.

Other rooms import `strict`, `values`. Read `strict` first.
"""
