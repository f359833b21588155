"""Starts drivers in containers of Hadoop YARN, in Spark's cluster mode."""
