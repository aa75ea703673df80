"""The Kinesis Client Library, 2.3 to 3.5."""
