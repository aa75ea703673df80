"""ListShards answers without boto3's parser, which takes most of the time of a long listing."""

from __future__ import annotations

from typing import Any

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder

from reshardctl.lineage import Fields

COLUMNS = "Columns"
"""The key under which an answer holds its page as a list of `Fields`."""


class _HashKeyRange(Struct, rename="pascal", gc=False):
    starting_hash_key: str
    ending_hash_key: str


class _SequenceNumberRange(Struct, rename="pascal", gc=False):
    starting_sequence_number: str
    ending_sequence_number: str | None = None


class _Shard(Struct, rename="pascal", gc=False):
    shard_id: str
    hash_key_range: _HashKeyRange
    sequence_number_range: _SequenceNumberRange
    parent_shard_id: str | None = None
    adjacent_parent_shard_id: str | None = None


class _Answer(Struct, rename="pascal"):
    shards: list[_Shard] | None = None
    next_token: str | None = None


_ANSWER = Decoder(_Answer)


def keep_pages_raw(client: Any) -> None:
    """Makes `list_shards` of this client return COLUMNS instead of `Shards`.

    botocore still resolves, signs, sends and receives; only the body of a successful answer is
    taken before it is parsed. Errors stay with botocore, and so does an answer that is no JSON
    object or has no shards. Shards that are not as the service writes them raise ValueError.
    """

    def take_over(
        response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
    ) -> None:
        if response_dict["status_code"] != 200:
            return
        columns, token = columns_of(response_dict["body"])
        if columns is None:
            return
        # These keys become part of the answer, and the parser has nothing left to do.
        customized_response_dict.update({COLUMNS: [columns], "NextToken": token})
        response_dict["body"] = b"{}"

    client.meta.events.register(
        "before-parse.kinesis.ListShards", take_over, unique_id="reshardctl-columns"
    )


def columns_of(body: bytes | str) -> tuple[Fields | None, str]:
    """The shards of an answer as columns, and its NextToken ("" on the last page).

    The columns are `None` if the body is no JSON object or has no shards. ValueError, naming the
    member, for one of another type than the service writes.
    """
    try:
        answer = _ANSWER.decode(body)
    except ValidationError:
        if body.lstrip()[:1] in (b"{", "{"):
            raise
        return None, ""
    except DecodeError:
        return None, ""
    shards = answer.shards
    if shards is None:
        return None, ""
    hash_keys = [shard.hash_key_range for shard in shards]
    numbers = [shard.sequence_number_range for shard in shards]
    columns = (
        [shard.shard_id for shard in shards],
        [shard.parent_shard_id or "" for shard in shards],
        [shard.adjacent_parent_shard_id or "" for shard in shards],
        [keys.starting_hash_key for keys in hash_keys],
        [keys.ending_hash_key for keys in hash_keys],
        [number.starting_sequence_number for number in numbers],
        [number.ending_sequence_number or "" for number in numbers],
    )
    return columns, answer.next_token or ""
