"""Commands about tables: what they are like, and what maintenance would do."""
