"""The composition root: the only file that knows every adapter."""
