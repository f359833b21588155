"""Several pools as one runner."""
