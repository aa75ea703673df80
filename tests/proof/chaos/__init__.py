"""Chaos of the whole: real consumers, reshards, damages, killed commands, a faulty network, clocks
that step. `scripts/prove chaos`; `__main__.py` has the options, `play.py` what happens in a world,
`ledger.py` what has to hold."""
