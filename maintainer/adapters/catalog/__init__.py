"""Iceberg catalogs through PyIceberg."""
