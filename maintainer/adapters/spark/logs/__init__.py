"""Logs of drivers: read where the driver writes them, kept by job where every replica reads them.

Jobs share warm drivers. A job's share begins with the driver's start, or where a warm driver took
the job, and ends with the job. Jobs that ran in the driver meanwhile write between its lines.
"""
