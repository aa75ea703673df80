"""Digits out of the middle of a number, as SQL; a number of layout v2 has 56.

A substring of text is found by walking over its characters, one of bytes is copied: that, and not
the cast, was two thirds of what the digits of a number cost.
"""

from __future__ import annotations


def whole(name: str, first: int, count: int) -> str:
    """SQL: BIGINT of so many digits from the first-th on, which is 1; NULL of what is no number.

    Of a text with other characters than ASCII's, whatever its bytes there are.
    """
    return (
        f"try_cast(cast(substring(cast({name} AS binary), {first}, {count}) AS string) AS bigint)"
    )
