"""Reads the logs of drivers, and stores each job's share, so that every replica can read it.

Jobs share warm drivers. A job's share begins with the driver's start, or where a warm driver took
the job, and ends with the job. Other jobs that run in the driver at the same time write into the
share too.
"""
