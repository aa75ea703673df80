"""One consumer, judged: findings and decision side by side, and what is read off them.

Pure: values in, values out. A snapshot becomes a report; lag, status, forecast and the changes of a
plan are read off it, and what a command came to is told with it. Read `report.py` first.

Other rooms import `audit`, `baseline`, `changes`, `forecast`, `lag`, `next_start`, `report`,
`results`, `scope`, `status`, `workers`. Read `report` first.
"""
