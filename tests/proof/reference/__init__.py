"""Reference consumers: executable models of the libraries' own restart, as independent oracles.

They know nothing of the package but its FakeKinesis, and they were written from the libraries'
sources and from runs on the real ones.
"""
