"""The pictures of the tour and of the README."""
