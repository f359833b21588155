"""The Spark driver program. This folder is copied to the machine where the driver runs.

The program uses only the standard library and pyspark, and imports its own modules by relative
names.
"""
