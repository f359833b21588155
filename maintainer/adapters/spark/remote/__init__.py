"""The daemon's side of drivers that any launcher starts and that poll over HTTP."""
