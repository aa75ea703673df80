"""What a redacted file of a checkpoint no longer tells."""

from __future__ import annotations

from reshardctl.consumers.spark.redacted_file import redact
from reshardctl.model import Image


def test_neither_the_owner_of_a_file_nor_the_headers_of_an_object_are_shown() -> None:
    own = {"text": {"S": "v1\n{}"}, "size": {"N": "5"}, "modified": {"N": "1"}}
    local = {"stored_with": {"S": '{"mode":"0640","owner":"4711:4712"}'}}
    beside = {"crc_stored_with": {"S": '{"mode":"0640","owner":"4711:4712"}'}}
    s3 = {"stored_with": {"S": '{"Metadata":{"team":"alice"}}'}}
    for more in (local, beside, s3):
        assert redact(Image("commits/7", {**own, **more}), lambda text: text).attributes == own
