"""Protocols that adapters implement and steps use. Tests have a fake of each, of the same name."""
