"""Pure: what the operator wants for a table."""
