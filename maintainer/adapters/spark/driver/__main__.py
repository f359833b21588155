"""Run with `python -m`.

The driver polls the link that the environment names. Without a link, it serves a socket that it
inherits open from the daemon; the argument is the number of the socket.
"""

import os
import socket
import sys
from functools import partial

from .link.channel import Channel
from .link.polling import Polling, read_link
from .program import Program
from .surroundings import name_user

name_user(os.environ)
os.dup2(2, 1)
link = read_link(os.environ)
if link is not None:
    Program(partial(Polling, link)).serve()
Program(partial(Channel, socket.socket(fileno=int(sys.argv[1])))).serve()
