"""Conditions on rows and partitions, as Spark reads them in a CALL's where."""
