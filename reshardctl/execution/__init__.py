"""Writes a proven plan to a store, and undoes it. The only code that writes positions.

Other rooms import `apply`, `plan_file`, `proof`, `undo`, `watch`. Read `apply` first.
"""
