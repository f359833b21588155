"""The repository as a project."""
