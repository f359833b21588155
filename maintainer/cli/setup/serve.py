"""Runs the daemon in the foreground: scheduler, API and page, until a signal ends it."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from types import FrameType

from maintainer.api.application import build_api, build_probes
from maintainer.api.server import (
    PROBE_BOUNDS,
    STOP_SECONDS,
    ApiServer,
    ConnectionBounds,
    bind,
    make_server,
)
from maintainer.app import App, LinkUse, open_app
from maintainer.app.api import make_context
from maintainer.app.loop import make_idle_scheduler, make_scheduler
from maintainer.cli.output.log import configure_log
from maintainer.cli.setup.roles import Role
from maintainer.domain.errors import ConfigurationError, MaintainerError
from maintainer.domain.job import BY_SHUTDOWN, Job
from maintainer.ports.runner import Runner
from maintainer.requests.run import continue_interrupted, request_cancel
from maintainer.settings import Settings
from maintainer.steps.jobs import held_jobs
from maintainer.steps.review import review
from maintainer.steps.watch import watch

log = logging.getLogger("maintainer")

_SLICE_SECONDS = 0.5


def serve(settings: Settings, role: Role = Role.ALL) -> None:
    """Run until SIGTERM or SIGINT.

    After the signal, running jobs may finish within the drain timeout; a second one cancels them.
    """
    configure_log(settings.log.format, settings.log.level)
    pools = settings.spark.every_pool.values()
    if role is Role.LINK and not any(pool.link for pool in pools):
        raise ConfigurationError(
            "the role link serves spark.link, and the configuration has no such section"
        )
    address = settings.server
    link = LinkUse.OWN if role.serves_link else LinkUse.NONE
    with ExitStack() as stack:
        listener = stack.enter_context(bind("server", address.host, address.port))
        probes = None
        if address.probes_port is not None:
            probes = stack.enter_context(
                bind("server", address.host, address.probes_port, "probes_port")
            )
        app = stack.enter_context(open_app(settings, link, migrates=role is Role.ALL))
        _run(app, listener, probes, role)


def _run(app: App, listener: socket.socket, probes: socket.socket | None, role: Role) -> None:
    scheduler = make_scheduler(app) if role.works else make_idle_scheduler(app)
    signals = _Signals()
    build = build_api if role.serves_api else build_probes
    context = make_context(app, scheduler)
    address = app.settings.server
    bounds = ConnectionBounds(address.connections, address.connections_per_address)
    api = make_server(build(context), bounds, proxies=address.proxies)
    served = [(api, listener)]
    if probes is not None:
        alone = build_probes(replace(context, is_stuck=lambda: api.is_stuck))
        served.append((make_server(alone, PROBE_BOUNDS), probes))
    with signals.caught(), _serving(served):
        if role.works:
            _resume(app, signals)
        scheduler.start()
        if probes is not None:
            log.info("probes.started address=%s", _address_of(probes))
        log.info(
            "daemon.started page=%s/ application=%s role=%s",
            _address_of(listener),
            app.ports.runner.application,
            role,
        )
        _log_policy_problems(app)
        if role.works:
            _log_missing(app.ports.runner)
        signals.wait()
        held, ending = held_jobs(app.ports), _own_running(app, signals)
        log.info(
            "daemon.stopping running_jobs=%d (%d of them may finish, and a second signal cancels "
            "them; the others continue without this daemon)",
            len(held),
            len(ending),
        )
        app.stopping.set()
        app.turns.stop()  # other replicas take these turns while this replica's jobs finish
        scheduler.drain(
            partial(_own_running, app, signals),
            partial(_cancel, app),
            timedelta(0) if signals.is_urgent else app.settings.drain_timeout,
        )
        scheduler.stop()
        if role.works:
            _end_spark(app, signals)
        else:
            app.ports.runner.leave()
    log.info("daemon.stopped")


def _address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextmanager
def _serving(served: Sequence[tuple[ApiServer, socket.socket]]) -> Iterator[None]:
    """Serve in a thread for each server, so that they answer while running jobs finish."""
    threads = [
        threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="api", daemon=True)
        for server, listener in served
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for server, _ in served:
            server.should_exit = True
        ends = monotonic() + STOP_SECONDS + 1
        for thread in threads:
            thread.join(max(0.0, ends - monotonic()))


def _resume(app: App, signals: _Signals) -> None:
    try:
        continue_interrupted(replace(app.ports, is_stopping=lambda: signals.is_asked))
    except MaintainerError as error:
        # A person who misses the second job of a request can request it again.
        log.warning("daemon.not_resumed error=%s", error)
    except Exception:
        log.exception("daemon.not_resumed")  # an error of one table must not stop the daemon


def _log_policy_problems(app: App) -> None:
    for problem in app.ports.policies.current().problems:
        log.warning("policy.refused source=%s problem=%r", problem.source, problem.message)


def _log_missing(runner: Runner) -> None:
    """Log what Spark lacks when the daemon starts; the inbox has it as long as it lasts."""
    for what, is_there, sentence in runner.describe():
        if not is_there:
            log.warning(
                "spark.missing what=%r problem=%r (tables are measured; no job runs)",
                what,
                sentence,
            )


class _Signals:
    """Counts signals: after the first, running jobs may finish; after the second, they may not."""

    def __init__(self) -> None:
        self._caught: SimpleQueue[int] = (
            SimpleQueue()
            # A signal handler may put into a SimpleQueue while the same thread waits for it. The
            # lock of an Event is not reentrant.
        )
        self._count = 0

    def wait(self) -> None:
        """Wait for the first signal.

        The system may deliver the signal to another thread, which does not wake this thread, but
        only this thread runs the handler. Therefore the wait is split into short waits.
        """
        is_caught = False
        while not is_caught:
            with suppress(Empty):
                self._caught.get(timeout=_SLICE_SECONDS)
                is_caught = True

    @property
    def is_asked(self) -> bool:
        """Whether the first signal has come."""
        return self._count > 0

    @property
    def is_urgent(self) -> bool:
        """Whether the second signal has come."""
        return self._count > 1

    # Python calls a signal handler with these arguments.
    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._count += 1
        self._caught.put(number)

    @contextmanager
    def caught(self) -> Iterator[None]:
        previous = {
            number: signal.signal(number, self._handle)
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def _own_running(app: App, signals: _Signals) -> list[Job]:
    # A job whose table cannot be read is not counted: any process can prove it later. After a
    # second signal no job continues.
    outlives = app.ports.runner.outlives_daemon
    jobs = [
        job
        for job in held_jobs(app.ports)
        if job.unreadable_since is None and (signals.is_urgent or not outlives(job.pool))
    ]
    if signals.is_urgent:
        for job in jobs:
            if not job.cancel_requested_by:
                _cancel(app, job)
    return jobs


def _cancel(app: App, job: Job) -> object:
    return request_cancel(app.ports, job, BY_SHUTDOWN)


def _end_spark(app: App, signals: _Signals) -> None:
    """Leave or end Spark, and then prove from the tables the jobs that ended with Spark."""
    runner: Runner = app.ports.runner
    is_left = not signals.is_urgent and all(map(runner.outlives_daemon, runner.capacities))
    if signals.is_urgent:
        runner.close()
    else:
        runner.leave()
    if is_left:
        return
    try:
        watch(app.ports)
        review(app.ports)
    except MaintainerError as error:
        # After the next start, these jobs are lost, and their tables are read.
        log.warning("daemon.left_jobs error=%s", error)
