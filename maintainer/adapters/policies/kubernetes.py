"""Policies in resources of Kubernetes: each is read into a layer, and gets a status."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from json import dumps
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from maintainer.adapters.kubernetes import Access, connect
from maintainer.adapters.kubernetes.objects import Kind, Manifest, name_of, part, parts
from maintainer.adapters.policies.directory import digest_layers
from maintainer.adapters.policies.document import Document, describe_excess, write_path
from maintainer.adapters.policies.model import PolicyModel
from maintainer.adapters.policies.reading import flatten, read_table_properties
from maintainer.adapters.policies.validation import validate
from maintainer.domain.errors import ClusterUnavailableError
from maintainer.domain.identifier import TablePattern
from maintainer.domain.job import Job
from maintainer.domain.policy import PolicyLayer, PolicyProblem, PolicySet, Setting
from maintainer.domain.policy_version import PolicyStatus
from maintainer.domain.units import format_size

if TYPE_CHECKING:
    from maintainer.adapters.kubernetes.cluster import Cluster


POLICY = Kind(
    "iceberg-maintainer.io",
    "v1alpha1",
    "IcebergTablePolicy",
    "icebergtablepolicies",
    origin="CustomResourceDefinition",
)
MAXIMUM_RESOURCES = 5000  # of one namespace
MAXIMUM_WRITES = 100  # of one report
READY = "Ready"
_MAX_MESSAGE = 1024  # characters; kubectl shows them in one line


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a resource is not in force."""

    reason: str  # of the condition Ready, in camel case
    messages: tuple[str, ...]


def name_layer(namespace: str, resource: Manifest) -> str:
    """Return the name of a resource's layer, which no file can have."""
    return f"kubernetes/{namespace}/{name_of(resource)}"


def read_layer(
    namespace: str, resource: Manifest, bounds: Sequence[TablePattern]
) -> PolicyLayer | Refusal:
    """Return the layer of a resource of this namespace, which may decide only within the bounds."""
    spec = dict(part(resource, "spec"))
    excess = describe_excess(len(dumps(spec)))
    if excess is not None:
        return Refusal("Invalid", (f"spec {excess}",))
    model = validate(Document(spec), PolicyModel)
    if isinstance(model, tuple):
        return Refusal("Invalid", tuple(defect.message for defect in model))
    if model.tables is None:
        return Refusal("Invalid", ("tables is missing; list the names of tables, or globs",))
    tables = tuple(TablePattern(text) for text in model.tables)
    allowed = ", ".join(bound.text for bound in bounds)
    outside = tuple(
        f"tables[{number}] is {table.text}, but the namespace {namespace} decides for {allowed} "
        "only"
        for number, table in enumerate(tables, 1)
        if not any(bound.contains(table) for bound in bounds)
    )
    if outside:
        return Refusal("OutsideNamespace", outside)
    name = name_layer(namespace, resource)
    settings = {
        write_path(path): Setting(value, f"{name}:{write_path(origin)}")
        for path, value, origin in flatten(model)
        if path[:1] != ("tables",)
    }
    return PolicyLayer(name, tables, settings)


@dataclass(frozen=True, slots=True)
class KubernetesPolicyOptions:
    """The tables for which each namespace decides, and the access to the API server."""

    namespaces: Mapping[str, tuple[TablePattern, ...]]
    kubeconfig: Path | None = None  # None: the daemon's service account, or else $KUBECONFIG
    context: str = ""  # of the kubeconfig; empty: its current context
    timeout_seconds: float = 10.0  # of each request


@dataclass(frozen=True, slots=True)
class Known:
    """A resource as it was last listed, with its last valid layer."""

    resource: Manifest
    layer: PolicyLayer | None
    refusal: Refusal | None = None

    @property
    def version(self) -> tuple[object, object]:
        """A text that changes with each change of the spec, but not with the status."""
        metadata = part(self.resource, "metadata")
        return metadata.get("uid"), metadata.get("generation")


@dataclass(slots=True)
class _Namespace:
    """One namespace; it counts as unread until its first successful listing."""

    name: str
    bounds: tuple[TablePattern, ...]
    access: Access
    cluster: Cluster | None = None
    known: dict[str, Known] = field(default_factory=dict)  # by the name of the layer
    error: str = ""
    unused: int = 0  # resources beyond the limit
    is_read: bool = False

    def read(self) -> None:
        """List the resources; ClusterUnavailableError if that fails."""
        if self.cluster is None:
            self.cluster = connect(self.access)
        found = self.cluster.list(POLICY)
        resources = {name_layer(self.name, each): each for each in found}
        self.unused = max(0, len(resources) - MAXIMUM_RESOURCES)
        self.known = {
            name: self._read_one(self.known.get(name), resources[name])
            for name in sorted(resources)[:MAXIMUM_RESOURCES]
        }
        self.is_read = True

    def _read_one(self, before: Known | None, resource: Manifest) -> Known:
        now = Known(resource, None)
        if before is not None and before.version == now.version:
            return Known(resource, before.layer, before.refusal)
        parsed = read_layer(self.name, resource, self.bounds)
        if isinstance(parsed, PolicyLayer):
            return Known(resource, parsed)
        return Known(resource, before.layer if before is not None else None, parsed)

    def report(self, name: str, status: PolicyStatus, now: datetime) -> bool:
        """Write the status of one resource; False if the resource has this status already."""
        known = self.known[name]
        wanted = write_status(known.resource, known.refusal, status, now)
        if is_written(known.resource, wanted) or self.cluster is None:
            return False
        self.cluster.write_status(POLICY, name_of(known.resource), wanted)
        status_now = {**part(known.resource, "status"), **wanted}
        self.known[name] = replace(known, resource={**known.resource, "status": status_now})
        return True

    def find_problems(self) -> Iterator[PolicyProblem]:
        source = f"kubernetes_policies.namespaces.{self.name}"
        if self.error:
            fallback = (
                "its last good policies stay in force"
                if self.is_read
                else "its tables are only observed until it was read once"
            )
            yield PolicyProblem(source, f"{self.error}; {fallback}")
        if self.unused:
            yield PolicyProblem(
                source,
                f"has {self.unused + MAXIMUM_RESOURCES} policies, over the limit of "
                f"{MAXIMUM_RESOURCES}; the last by name are not used",
            )
        for name, known in self.known.items():
            for message in known.refusal.messages if known.refusal is not None else ():
                yield PolicyProblem(name, message)

    def finds_in(self, catalog: str) -> bool:
        """Return whether the namespace may decide for tables of the catalog."""
        return any(fnmatchcase(catalog, bound.text.split(".")[0]) for bound in self.bounds)


class KubernetesPolicies:
    """The policies of all namespaces.

    For a refused resource its last valid version is used. A namespace that cannot be listed
    keeps its last valid policies.
    """

    def __init__(self, options: KubernetesPolicyOptions, catalogs: Collection[str] = ()) -> None:
        """No request is made yet. `catalogs` are those whose tables the daemon may maintain."""
        self._catalogs = sorted(catalogs)
        self._namespaces = [
            _Namespace(
                name,
                bounds,
                Access(name, options.kubeconfig, options.context, options.timeout_seconds),
            )
            for name, bounds in sorted(options.namespaces.items())
        ]
        self._set: PolicySet | None = None
        self._lock = Lock()  # reading and reporting exclude each other

    def current(self) -> PolicySet:
        """Return the last valid set; only the first call sends requests."""
        if self._set is None:
            self.refresh()
        return self._set or PolicySet(())

    def refresh(self) -> None:
        """List all resources again; errors become problems in the last valid set."""
        with self._lock:
            for namespace in self._namespaces:
                try:
                    namespace.read()
                    namespace.error = ""
                except ClusterUnavailableError as error:
                    namespace.error = str(error)
            built = self._build()
            if built != self._set:
                self._set = built

    def layers(self) -> tuple[PolicyLayer, ...]:
        """Return the layers in force, each under the name of its resource."""
        return self.current().layers

    def report(self, statuses: Mapping[str, PolicyStatus], now: datetime) -> int:
        """Write each status that has changed, by the name of its layer; return how many.

        A call writes at most MAXIMUM_WRITES; the next calls write the rest.
        ClusterUnavailableError if a status cannot be written.
        """
        with self._lock:
            written = 0
            for namespace in self._namespaces:
                for name in namespace.known:
                    if written == MAXIMUM_WRITES:
                        return written
                    written += namespace.report(name, statuses.get(name, PolicyStatus()), now)
            return written

    def close(self) -> None:
        """Close the connections to the API server."""
        for namespace in self._namespaces:
            if namespace.cluster is not None:
                namespace.cluster.close()

    def _build(self) -> PolicySet:
        layers = tuple(
            known.layer
            for namespace in self._namespaces
            for known in namespace.known.values()
            if known.layer is not None
        )
        unread = [namespace for namespace in self._namespaces if not namespace.is_read]
        return PolicySet(
            layers,
            tuple(
                problem for namespace in self._namespaces for problem in namespace.find_problems()
            ),
            digest_layers(layers),
            read_table_properties,
            tuple(
                catalog
                for catalog in self._catalogs
                if any(namespace.finds_in(catalog) for namespace in unread)
            ),
        )


def write_status(
    resource: Manifest, refusal: Refusal | None, status: PolicyStatus, now: datetime
) -> Manifest:
    """Return the fields of the status; None removes a field. An unknown last job is kept."""
    average = status.average_file_size_bytes
    written: Manifest = {
        "observedGeneration": part(resource, "metadata").get("generation"),
        "tables": status.tables,
        "band": status.band.value if status.band is not None else None,
        "averageFileSize": format_size(average) if average is not None else None,
        "averageFileSizeBytes": round(average) if average is not None else None,
        "nextCheckAt": _write_instant(status.next_check_at) if status.next_check_at else None,
        "conditions": _write_conditions(resource, _find_state(refusal, status), now),
    }
    if status.last_job is not None:
        written["lastJob"] = _write_job(status.last_job)
    return written


def is_written(resource: Manifest, written: Mapping[str, object]) -> bool:
    """Return whether the resource has this status already."""
    present = part(resource, "status")
    return all(present.get(key) == value for key, value in written.items())


def _find_state(refusal: Refusal | None, status: PolicyStatus) -> tuple[str, str, str]:
    """Return the status, the reason and the message of the condition Ready."""
    if refusal is not None:
        return "False", refusal.reason, "; ".join(refusal.messages)
    if status.problems:
        return "False", "Disputed", "; ".join(status.problems)
    return "True", "InForce", "the policy is in force"


def _write_conditions(
    resource: Manifest, state: tuple[str, str, str], now: datetime
) -> list[Mapping[str, object]]:
    """Return all conditions; the time of the transition is kept until Ready changes."""
    known = parts(resource, "status", "conditions")
    before = next((each for each in known if each.get("type") == READY), {})
    value, reason, message = state
    is_same = before.get("status") == value
    ready = {
        "type": READY,
        "status": value,
        "reason": reason,
        "message": message[:_MAX_MESSAGE],
        "observedGeneration": part(resource, "metadata").get("generation"),
        "lastTransitionTime": before["lastTransitionTime"] if is_same else _write_instant(now),
    }
    return [*(each for each in known if each.get("type") != READY), ready]


def _write_job(job: Job) -> dict[str, object]:
    return {
        "id": job.job_id,
        "table": str(job.table),
        "rule": job.rule.value,
        "state": job.state.value,
    }


def _write_instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
