"""Several ways to run Spark, as one runner."""
