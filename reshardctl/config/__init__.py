"""`reshardctl.toml`: the streams and consumers, and what is wanted of each.

Other rooms import `effective`, `entries`, `iam`, `nearest`, `reading`. Read `entries` first.
"""
