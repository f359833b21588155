"""The two kinds of connections between driver and daemon: a socket, and polls over HTTP."""
