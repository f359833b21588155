"""The two ways between the driver and its daemon: a socket, and polls over HTTP."""
