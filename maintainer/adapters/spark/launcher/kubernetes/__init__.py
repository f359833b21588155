"""Starts drivers as pods: by ourselves, or through one of the two Spark operators."""
