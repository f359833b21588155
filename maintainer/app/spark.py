"""The runners of the pools in the settings, and the links that their drivers poll."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.pools.runner import PooledRunner
from maintainer.adapters.spark.trial import Trial
from maintainer.app.options import (
    kubernetes_options,
    run_dir,
    runner_options,
    spark_options,
    yarn_options,
)
from maintainer.domain.errors import ConfigurationError, RunnerUnavailableError
from maintainer.ports.clock import Clock
from maintainer.ports.runner import Runner
from maintainer.ports.store import Store
from maintainer.settings import Settings
from maintainer.settings.spark.clusters import LinkSettings

log = logging.getLogger("maintainer")

# The ports that this process listens on for drivers, by the host and the port of the settings.
LinkPorts = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts that the runners of all pools share."""

    settings: Settings
    store: Store
    clock: Clock
    catalogs: Mapping[str, Mapping[str, str]]  # Spark's settings for each catalog
    link_ports: LinkPorts
    owner: str
    instance: str

    @property
    def application(self) -> str:
        return f"iceberg-maintainer-{self.instance}"


def open_runner(
    settings: Settings,
    store: Store,
    clock: Clock,
    catalogs: Mapping[str, Mapping[str, str]],
    link_ports: LinkPorts,
) -> Runner:
    """The runner of the settings; ``catalogs`` are Spark's settings of each catalog.

    Pools that cannot be opened are obstacles, and do not stop other pools.
    """
    owner = _name_owner()
    parts = _Parts(settings, store, clock, catalogs, link_ports, owner, store.instance_id())
    names = settings.spark.every_pool
    runners: dict[str, Runner] = {}
    obstacles: dict[str, str] = {}
    for name in names:
        try:
            runners[name] = _open_pool(parts, name)
        except (RunnerUnavailableError, ConfigurationError) as error:
            if len(names) == 1:
                raise
            obstacles[name] = str(error)
            log.warning("spark.pool_refused pool=%s error=%s", name, error)
    files = OrphanFiles(store, owner)
    return PooledRunner(runners, obstacles, owner, parts.application, files, store, clock)


def open_trials(
    settings: Settings,
    store: Store,
    clock: Clock,
    catalogs: Mapping[str, Mapping[str, str]],
    link_ports: LinkPorts,
) -> Iterator[tuple[str, Trial | str]]:
    """A trial of each pool, to be closed before the next; or why the pool cannot be opened."""
    owner = _name_owner()
    parts = _Parts(settings, store, clock, catalogs, link_ports, owner, store.instance_id())
    for name in settings.spark.every_pool:
        try:
            yield name, _open_pool(parts, name).trial()
        except (RunnerUnavailableError, ConfigurationError) as error:
            yield name, str(error)


def _name_owner() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}"


def _open_pool(parts: _Parts, name: str) -> SparkRunner:
    settings, pool = parts.settings, parts.settings.spark.every_pool[name]
    link = pool.link
    if link is None:
        return LocalRunner(
            options=spark_options(settings, name),
            catalogs=parts.catalogs,
            owner=parts.owner,
            application=parts.application,
            run_dir=run_dir(settings, name),
            store=parts.store,
            clock=parts.clock,
        )
    # Most daemons use drivers with a socket, and most commands use no drivers.
    from maintainer.adapters.spark.remote.drivers import LinkOptions  # noqa: PLC0415
    from maintainer.adapters.spark.remote.runners import (  # noqa: PLC0415
        RemoteParts,
        kubernetes_runner,
        process_runner,
        yarn_runner,
    )

    port = parts.link_ports.get((link.host, link.port), link.port)
    remote = RemoteParts(
        parts.catalogs,
        parts.owner,
        parts.application,
        LinkOptions(
            parts.instance, link.address_at(port), _read_authority(link), settings.lease.duration
        ),
        parts.store,
        run_dir(settings, name),
        parts.clock,
    )
    if pool.kubernetes is not None:
        options = kubernetes_options(pool.kubernetes)
        return kubernetes_runner(remote, runner_options(settings, name), options)
    here = spark_options(settings, name)
    if pool.yarn is not None:
        return yarn_runner(remote, here, yarn_options(pool.yarn))
    return process_runner(remote, here)


@contextmanager
def serve_links(
    settings: Settings, store: Store, clock: Clock, *, is_shared: bool = False
) -> Iterator[LinkPorts]:
    """Serve the links of all pools, each port in a thread; the value has the ports.

    A shared port may be in use; then another process on this machine answers the drivers.
    ConfigurationError if the process cannot listen on a port for another reason.
    """
    links = {
        (pool.link.host, pool.link.port): pool.link
        for pool in settings.spark.every_pool.values()
        if pool.link is not None
    }
    with ExitStack() as stack:
        ports = {
            place: stack.enter_context(
                _serve_link(link, store, clock, settings.lease.duration, is_shared=is_shared)
            )
            for place, link in links.items()
        }
        yield {place: port for place, port in ports.items() if port is not None}


@contextmanager
def _serve_link(
    link: LinkSettings, store: Store, clock: Clock, longest: timedelta, *, is_shared: bool
) -> Iterator[int | None]:
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
        server = make_server(make_endpoint(store, clock, longest), tls=tls)
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, name="link", daemon=True
        )
        thread.start()
        try:
            port: int = listener.getsockname()[1]
            log.info("link.started address=%s", link.address_at(port))
            yield port
        finally:
            server.should_exit = server.force_exit = True  # the driver repeats an interrupted poll
            thread.join(STOP_SECONDS + 1)


def _read_authority(link: LinkSettings) -> str:
    if link.authority is None:
        return ""
    try:
        return link.authority.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"spark.link.authority {link.authority} cannot be read: {error.strerror}"
        ) from error
