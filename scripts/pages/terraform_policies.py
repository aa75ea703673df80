"""Write deploy/terraform/policies from the policies of docs/iam.md, with Terraform's variables.

    .venv/bin/python -m scripts.pages terraform_policies
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "iam.md"
FOLDER = ROOT / "deploy" / "terraform" / "policies"
WANTED = ("inspect", "probe", "name", "fix", "journal")
"""The policies that deploy/terraform attaches."""
VARIABLES = {
    "arn:aws:kinesis:eu-west-1:123456789012:stream/orders": "${stream}",
    "arn:aws:kinesis:eu-west-1:123456789012:stream/*": "${every_stream}",
    "arn:aws:dynamodb:eu-west-1:123456789012:table/orders-reader": "${table}",
    "arn:aws:s3:::my-bucket/reshardctl": "${journal_bucket}/${journal_prefix}",
    "arn:aws:s3:::my-bucket": "${journal_bucket}",
}
"""What the page has as an example, and the variable for it. The longer of two stands first."""


def policies() -> dict[str, str]:
    """Policy → its JSON template."""
    parts = re.split(r"^## ([\w-]+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {name: _template(texts[name]) for name in WANTED}


def _template(section: str) -> str:
    match = re.search(r"```json\n(.*?)```", section, re.DOTALL)
    if match is None:
        raise ValueError(f"{PAGE}: a section without a policy")
    text = json.dumps(json.loads(match[1]), indent=2) + "\n"
    for example, variable in VARIABLES.items():
        text = text.replace(example, variable)
    return text
