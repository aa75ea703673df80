"""What is wrong, and by which rule.

`evidence` has what a rule may look at; `rules` has a function for each rule, in seven families, and
`rules/pages` the page of each. Of planning it knows the effects of a start, and no plan: findings
come first, because they may choose what is planned.

Other rooms import `discovery`, `evidence`, `rules`, `rules.base`, `rules.pages`, `rules.sinks`.
Read `rules.base` first.
"""
