"""Catalogs through PyIceberg; metadata files through our own readers."""
