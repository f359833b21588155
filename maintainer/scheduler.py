"""When each step runs."""
