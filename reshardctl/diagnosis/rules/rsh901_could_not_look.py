"""The stream or the store could not be read, so nothing is judged.

What it is
----------
Not a finding of a table: any read that failed or came short. A page refused, a permission missing,
credentials expired, throttling beyond the retries, a listing that does not settle (RSH103 to
RSH105), an answer that makes no sense.

Why it matters
--------------
What was not read may be broken. This is never reported as clean and never planned on: exit 3.

How it happens
--------------
The message names the call, the resource and the next command. Mostly: another region or profile
than the stream's, a role without dynamodb:Scan or kinesis:ListShards, an endpoint that is no AWS.

What the fix writes
-------------------
Nothing. Mend what the message names, and run the same command again. To see who you are:

    aws sts get-caller-identity

When the fix is not offered
---------------------------
Always: there is no option that goes on with half a listing or half a table.

Example
-------
    ListShards of orders   page 2 of 12   AccessDeniedException
    nothing is judged

Seen in the wild
----------------
Tools that went on: boto/botocore#2009 and apache/beam#33478 (the second page refused),
warpstreamlabs/bento#531 (the second page not asked for).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View

CODE, NAME = "RSH901", "could-not-look"


def match(_view: View) -> Iterator[Finding]:
    """Nothing: raised by any read that failed or came short, exit 3."""
    return iter(())
