"""What each library stores, and what it does at its next start.

A folder for each library; none knows of another. `base` has the interface that all of them keep,
`registry` finds the one for a locator.

Other rooms import `base`, `locator`, `quickwit.document`, `quickwit.rows`, `registry`,
`sequence_numbers`, `spec`, `tables`. Read `base` first.
"""
