"""The words of every result, by what they are about; `documents` has a class for each result.

As values (`report_json`, `records`) sequence numbers are strings (a double cannot hold them), times
are ISO 8601 in UTC, lengths of time are seconds. `report.schema.json` describes the documents.
Members are only ever added.
"""
