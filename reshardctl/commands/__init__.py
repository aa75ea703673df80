"""One function for each use case: a request in, a result out.

Nothing is printed here. A function tells an observer what it does and asks through one callback, so
the same code serves the command line and Python. The names that Python users import are those of
`reshardctl/__init__.py`.

Other rooms import `audit`, `config`, `configured`, `consent`, `discover`, `exclusions`, `explain`,
`export`, `fix`, `graph`, `inspect`, `inspect_again`, `journals`, `named`, `observer`, `planned`,
`rebuild`, `requests`, `snapshot`, `status`, `survey`, `tables`, `target`, `undo`, `undo_source`,
`write_requests`. Read `inspect` first.
"""
