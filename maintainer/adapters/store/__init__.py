"""The store on SQLAlchemy: SQLite embedded, PostgreSQL in production."""
