"""Pure: before and after a job. Its effect, its proof, and what it teaches."""
