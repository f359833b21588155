"""The runner that the settings choose, and the link that its drivers poll."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from maintainer.adapters.spark.local import LocalRunner
from maintainer.app.options import kubernetes_options, run_dir, runner_options, spark_options
from maintainer.domain.errors import ConfigurationError
from maintainer.ports.clock import Clock
from maintainer.ports.runner import Runner
from maintainer.ports.store import Store
from maintainer.settings import Settings
from maintainer.settings.spark.link import LinkSettings

log = logging.getLogger("maintainer")


def open_runner(
    settings: Settings,
    store: Store,
    clock: Clock,
    catalogs: Mapping[str, Mapping[str, str]],
    link_port: int | None = None,
) -> Runner:
    """The runner of the settings; ``catalogs`` are Spark's settings of each catalog.

    ``link_port`` is where this process serves the link, if it does.
    """
    owner = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}"
    instance = store.instance_id()
    application = f"iceberg-maintainer-{instance}"
    link = settings.spark.link
    if link is None:
        return LocalRunner(
            options=spark_options(settings),
            catalogs=catalogs,
            owner=owner,
            application=application,
            run_dir=run_dir(settings),
            store=store,
            clock=clock,
        )
    # Most daemons reach Spark by a socket, and most commands run none.
    from maintainer.adapters.spark.remote.drivers import LinkOptions  # noqa: PLC0415
    from maintainer.adapters.spark.remote.runners import (  # noqa: PLC0415
        RemoteParts,
        kubernetes_runner,
        process_runner,
    )

    parts = RemoteParts(
        catalogs,
        owner,
        application,
        LinkOptions(
            instance,
            link.address_at(link_port or link.port),
            _read_authority(link),
            settings.lease.duration,
        ),
        store,
        run_dir(settings),
        clock,
    )
    if settings.spark.kubernetes is None:
        return process_runner(parts, spark_options(settings))
    options = kubernetes_options(settings.spark.kubernetes)
    return kubernetes_runner(parts, runner_options(settings), options)


@contextmanager
def serve_link(
    settings: Settings, store: Store, clock: Clock, *, is_shared: bool = False
) -> Iterator[int | None]:
    """Serve the link in a thread, if the settings have one; the value is its port.

    A shared port may be in use: then another process on this machine answers the drivers.
    ConfigurationError if it cannot be listened on otherwise.
    """
    link = settings.spark.link
    if link is None:
        yield None
        return
    # Only a process that runs jobs needs a server.
    from maintainer.adapters.spark.link.http.endpoint import make_endpoint  # noqa: PLC0415
    from maintainer.api.server import STOP_SECONDS, TlsFiles, bind, make_server  # noqa: PLC0415

    try:
        listener = bind("spark.link", link.host, link.port)
    except ConfigurationError:
        if not is_shared:
            raise
        yield None
        return
    tls = (
        TlsFiles(link.certificate, link.key)
        if link.certificate is not None and link.key is not None
        else None
    )
    with listener:
        server = make_server(make_endpoint(store, clock, settings.lease.duration), tls=tls)
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, name="link", daemon=True
        )
        thread.start()
        try:
            port: int = listener.getsockname()[1]
            log.info("link.started address=%s", link.address_at(port))
            yield port
        finally:
            server.should_exit = server.force_exit = True  # a poll that is cut short is repeated
            thread.join(STOP_SECONDS + 1)


def _read_authority(link: LinkSettings) -> str:
    if link.authority is None:
        return ""
    try:
        return link.authority.read_text(encoding="utf-8")
    except OSError as error:
        message = f"spark.link.authority {link.authority} cannot be read: {error.strerror}"
        raise ConfigurationError(message) from error
