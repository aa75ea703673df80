"""Results as text: pure functions from values to strings.

A result becomes a `document.Document`, whose class (`content.documents`) says which views it has.
A line of `formats.Format` says which view a format writes, and which function does it. `content`
has the words of each result, `graph` the pictures.

Other rooms import `content.documents`, `content.journals`, `content.plan`, `content.questions`,
`content.roundup`, `content.tables`, `content.undo`, `content.verdict`, `content.writes`, `context`,
`costs`, `document`, `escape`, `formats`, `graph.chart`, `graph.drawings`, `html`, `markup`,
`words`. Read `document` first.
"""
