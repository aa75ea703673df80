"""Repair a consumer's stored positions after its Kinesis stream was resharded."""

__version__ = "0.1.0"
