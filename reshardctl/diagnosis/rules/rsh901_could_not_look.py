"""The stream or the store could not be read, so nothing is judged.

What it is
----------
Not a finding of a table: a read that failed or was incomplete. A page was refused, a permission is
missing, credentials expired, throttling outlasted the retries, a listing stays inconsistent (RSH103
to RSH105), or an answer makes no sense.

Why it matters
--------------
What was not read may be broken. This is never reported as clean and never planned on: exit 3.

How it happens
--------------
The message names the call, the resource and the next command. Usually: another region or profile
than the stream's, a role without dynamodb:Scan or kinesis:ListShards, an endpoint that is not AWS.

What the fix writes
-------------------
Nothing. Correct what the message names, and run the same command again. To see who you are:

    aws sts get-caller-identity

When the fix is not offered
---------------------------
Always: no option continues with half a listing or half a table.

Example
-------
    ListShards of orders   page 2 of 12   AccessDeniedException
    nothing is judged

Seen in the wild
----------------
Tools that continued: boto/botocore#2009 and apache/beam#33478 (the second page refused),
warpstreamlabs/bento#531 (the second page not asked for).
"""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import raised_elsewhere

CODE, NAME = "RSH901", "could-not-look"
match = raised_elsewhere
"""Raised by any read that failed or came short, exit 3."""
