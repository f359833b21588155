"""What the planner twin predicts, held against what Spark does with the same tables."""
