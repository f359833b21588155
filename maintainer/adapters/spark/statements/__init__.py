"""Writes the SQL statements of a job."""
