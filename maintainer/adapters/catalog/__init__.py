"""Catalogs by PyIceberg, and faster readers of metadata files."""
