"""A fleet of tables in virtual time, maintained by the same code that decides in production."""
