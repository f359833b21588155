"""The Spark driver program: this folder travels to Spark.

It uses the standard library and pyspark alone, and imports its own modules by relative names.
"""
