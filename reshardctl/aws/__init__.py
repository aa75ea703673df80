"""What every AWS call shares: sessions, error codes, pauses, malformed answers.

Other rooms import `call_log`, `client`, `s3`. Read `client` first.
"""
