"""The configuration file, the environment, and their bounds."""
