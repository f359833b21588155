"""How one kind of job is prepared before Spark gets it, and proved afterwards."""
