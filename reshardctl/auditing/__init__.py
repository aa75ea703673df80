"""What a sink holds of a stream, judged. Pure: the reading is `reshardctl.spark.audit`'s."""
