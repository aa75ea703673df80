"""Turns positions into a proven plan, or into the reason why there is none.

`case` has what is decided on, `decision` what may come out, `effects` what the next start does to
each shard.

Other rooms import `as_given`, `case`, `decision`, `effects`, `plan`, `policy`, `prices`, `rebuild`,
`writes`. Read `plan` first.
"""
