"""Starts drivers as pods: by the daemon, or through one of the two Spark operators."""
