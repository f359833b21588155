"""The daemon's steps. A step reads from ports, calls a pure function, and writes to ports."""
