"""Run with `python -m`; the argument is the number of the socket that the daemon has left open."""

from .program import main

main()
