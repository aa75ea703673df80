"""Turns positions into a proven plan, or into the reason why there is none.

`case` has what is decided on, `decision` what may come out, `effects` what the next start does to
each shard. `Planner` (`plan`) goes through one pass after the other; `one_candidate` narrows what
one candidate would write, `joining` finds the cheapest of several plans, `within_scope` widens.

Other rooms import `as_given`, `case`, `crashes`, `decision`, `effects`, `plan`, `policy`, `prices`,
`rebuild`, `restore`, `skipped`, `starts`, `writes`. Read `plan` first.
"""
