"""What a sink holds of a stream, judged. Pure: the reading is `reshardctl.spark.audit`'s.

`facts` has what was counted in the sink, `coverage` compares it with the stream, `sink_frontier`
turns it into positions.

Other rooms import `coverage`, `facts`, `sink_frontier`. Read `facts` first.
"""
