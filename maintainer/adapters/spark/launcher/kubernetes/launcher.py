"""Starts drivers on Kubernetes, and reports their states."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from maintainer.adapters.kubernetes import Access, connect
from maintainer.adapters.kubernetes.objects import POD, Kind, Manifest, name_of, text
from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase, LaunchState
from maintainer.adapters.spark.launcher.kubernetes.application_states import read_application
from maintainer.adapters.spark.launcher.kubernetes.kinds import (
    EVENT,
    KINDS,
    Permission,
    deleted_kinds,
    owner_kind,
    permissions,
)
from maintainer.adapters.spark.launcher.kubernetes.options import (
    KubernetesOptions,
    Operator,
    select_drivers,
)
from maintainer.adapters.spark.launcher.kubernetes.pod_states import needs_events, read_pod
from maintainer.adapters.spark.launcher.kubernetes.pods import DRIVER_CONTAINER
from maintainer.adapters.spark.launcher.kubernetes.rendering import own, render
from maintainer.adapters.spark.link import LogPart
from maintainer.domain.errors import RunnerUnavailableError

if TYPE_CHECKING:
    from maintainer.adapters.kubernetes.cluster import Cluster


_NANOSECONDS = 1_000_000_000
_LINE = re.compile(
    rb"(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9})\d*)?"
    rb"(?P<zone>Z|[+-]\d\d:\d\d) ?(?P<text>.*)"
)
MAX_PART_BYTES = 1024 * 1024
_LIST_SECONDS = 1.0  # a list is used again for this time


def second_of(since: int) -> str:
    """Return the second of a position in the format of the API server."""
    return datetime.fromtimestamp(since // _NANOSECONDS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_part(content: bytes, since: int, limit: int = MAX_PART_BYTES) -> LogPart:
    """Return the lines after a position; a line that the limit has cut is in the next part."""
    is_cut = len(content) >= limit
    lines = content.split(b"\n")
    last = lines.pop()
    if last and not is_cut:
        lines.append(last)
    texts, position = [], since
    for line in lines:
        found = _LINE.fullmatch(line)
        at = position if found is None else _read_time(found)
        if found is None or at > since:
            texts.append((line if found is None else found["text"]).decode(errors="replace"))
            position = max(position, at)
    if is_cut and position == since:
        # The lines of one second do not fit into a part, and the rest of them cannot be requested.
        position = (since // _NANOSECONDS + 1) * _NANOSECONDS
        texts.append("(lines of this second are left out)")
    return LogPart("".join(f"{text}\n" for text in texts), position, is_cut)


def _read_time(found: re.Match[bytes]) -> int:
    zone = found["zone"].decode().replace("Z", "+00:00")
    instant = datetime.fromisoformat(found["second"].decode() + zone)
    fraction = (found["fraction"] or b"").decode().ljust(9, "0")
    return int(instant.timestamp()) * _NANOSECONDS + int(fraction)


class KubernetesLauncher:
    """Drivers of one installation in one namespace. A driver's handle is its name.

    A name that exists already is the same driver if it has this installation's label. The pod or
    application of a driver owns all objects of its launch, so the cluster deletes them together.
    """

    def __init__(
        self,
        options: KubernetesOptions,
        installation: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The cluster is contacted only when it is needed."""
        self._options = options
        self._installation = installation
        self._kind = owner_kind(options.operator)
        self._parts = deleted_kinds(options.operator)
        self._clock = clock
        self._lock = threading.Lock()
        self._lists: dict[Kind, tuple[float, dict[str, Manifest]]] = {}
        self._connected: Cluster | None = None

    def launch(self, spec: DriverSpec) -> str:
        """Create the driver's objects, its pod or application first."""
        owner, *owned = render(spec, self._options)
        created = self._cluster.create(self._kind, owner)
        self._forget_lists()
        existing = self._list(self._kind).get(spec.name) if created is None else created
        if existing is None:
            raise RunnerUnavailableError(
                f"a {self._kind.name} named {spec.name} exists in the namespace "
                f"{self._options.namespace} and is not of this installation"
            )
        uid = text(existing, "metadata", "uid")
        try:
            for manifest in owned:
                kind = next(kind for kind in KINDS if kind.name == manifest["kind"])
                self._cluster.create(kind, own(manifest, owner, uid))
        except RunnerUnavailableError:
            if created is not None:  # without its Secret the pod would wait for ever
                with contextlib.suppress(RunnerUnavailableError):
                    self._cluster.delete(self._kind, spec.name)
            raise
        return spec.name

    def state(self, handle: str) -> LaunchState:
        """Return the driver's state, with at most two requests."""
        seen = self._list(self._kind, handle).get(handle)
        if self._options.operator is not Operator.NONE:
            pod = self._list(POD).get(handle, {})
            if seen is not None:
                return read_application(self._options.operator, seen, pod)
            return read_pod(pod, ()) if pod else LaunchState(LaunchPhase.GONE)
        if seen is None:
            return LaunchState(LaunchPhase.GONE)
        events = (
            self._cluster.list(EVENT, fields={"involvedObject.name": handle})
            if needs_events(seen)
            else ()
        )
        return read_pod(seen, events)

    def log(self, handle: str, since: int) -> LogPart:
        """Return the log of the driver's pod after a position."""
        bounds = {"limitBytes": str(MAX_PART_BYTES)}
        if since > 0:
            bounds["sinceTime"] = second_of(since)
        content = self._cluster.log(handle, DRIVER_CONTAINER, bounds)
        return read_part(content or b"", since)

    def end(self, handle: str) -> None:
        """Delete the driver with all objects that it owns, without waiting for its end.

        The cluster sends SIGTERM and, some seconds later, SIGKILL.
        """
        self._forget_lists()
        for kind in self._parts:
            if handle in self._list(kind):  # else it was deleted, or is of another installation
                self._cluster.delete(kind, handle)
        self._forget_lists()

    def find(self) -> Sequence[str]:
        """Return the names of all drivers of this installation."""
        self._forget_lists()
        return sorted({name for kind in self._parts for name in self._list(kind)})

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """Ask the cluster whether the daemon has each right of its Role."""
        try:
            return [
                self._describe(permission) for permission in permissions(self._options.operator)
            ]
        except RunnerUnavailableError as error:
            return [("Kubernetes", False, str(error))]

    def close(self) -> None:
        """Close the connections to the API server; the drivers continue."""
        if self._connected is not None:
            self._connected.close()

    def _describe(self, permission: Permission) -> tuple[str, bool, str]:
        group, resource = permission.group, permission.resource
        missing = [
            verb for verb in permission.verbs if not self._cluster.allows(verb, group, resource)
        ]
        where = f"{resource} in the namespace {self._options.namespace}"
        if missing:
            sentence = f"the daemon may not {', '.join(missing)} {where}; its Role must allow it"
            return f"Kubernetes: {resource}", False, sentence
        return f"Kubernetes: {resource}", True, f"may {', '.join(permission.verbs)} {where}"

    @property
    def _cluster(self) -> Cluster:
        """Connect at the first use; the client library is an optional extra."""
        if self._connected is None:
            options = self._options
            self._connected = connect(
                Access(
                    options.namespace, options.kubeconfig, options.context, options.timeout_seconds
                )
            )
        return self._connected

    def _list(self, kind: Kind, wanted: str = "") -> dict[str, Manifest]:
        """Return this installation's drivers by name; a list of the last second is used again.

        If the list does not have the wanted name, it is fetched again: the driver may be new.
        """
        with self._lock:
            fetched_at, found = self._lists.get(kind, (float("-inf"), {}))
            is_recent = self._clock() - fetched_at < _LIST_SECONDS
            if not is_recent or (wanted and wanted not in found):
                now = self._clock()
                listed = self._cluster.list(kind, labels=select_drivers(self._installation))
                found = {name_of(each): each for each in listed}
                self._lists[kind] = (now, found)
            return found

    def _forget_lists(self) -> None:
        with self._lock:
            self._lists.clear()
