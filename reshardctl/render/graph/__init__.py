"""Pictures of a lineage: pure functions from a chart to a string. Read `drawings` first."""
