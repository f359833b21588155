"""Run with `python -m`; the argument is the number of the socket that the daemon has left open."""

import os

from .program import main
from .surroundings import name_user

name_user(os.environ)
main()
