"""Commands to set up, check and run the daemon."""
