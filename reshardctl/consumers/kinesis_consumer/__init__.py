"""harlow/kinesis-consumer, its consumer group, and Telegraf's input on the same table."""
