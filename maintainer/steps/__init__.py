"""The daemon's steps: each reads ports, calls one pure function and writes ports."""
