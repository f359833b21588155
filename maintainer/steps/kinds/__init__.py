"""Prepares each kind of job before Spark gets the job, and proves its effect afterwards."""
