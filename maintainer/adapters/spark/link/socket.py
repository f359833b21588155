"""The Unix socket between the daemon and a driver on the same machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maintainer.adapters.spark.driver.link.channel import bound_sending

_SOCKET = "socket"
_MAX_SOCKET_PATH_BYTES = 100  # Linux allows 107, other systems 103


@contextmanager
def listening(directory: Path) -> Iterator[socket.socket]:
    """Open the driver's socket in advance, so that connecting does not wait for the driver's start.

    Other users have no access to the directory. OSError if its path is too long.
    """
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server,
        _socket_path(directory) as path,
    ):
        try:
            server.bind(path)
        except OSError as error:
            raise OSError(
                f"{directory / _SOCKET} cannot be a socket: {error}; choose a run_dir with a "
                f"shorter path"
            ) from error
        server.listen()
        yield server


def connect(directory: Path) -> socket.socket:
    """Connect to the driver of this directory; OSError if the driver does not listen."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _socket_path(directory) as path:
            connection.connect(path)
        bound_sending(connection)
    except OSError:
        connection.close()
        raise
    return connection


@contextmanager
def _socket_path(directory: Path) -> Iterator[str]:
    """Yield the socket's path, or a shorter alias if the path is too long for the system."""
    path = directory / _SOCKET
    if len(os.fsencode(path)) <= _MAX_SOCKET_PATH_BYTES:
        yield str(path)
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{_SOCKET}"
    finally:
        os.close(descriptor)
