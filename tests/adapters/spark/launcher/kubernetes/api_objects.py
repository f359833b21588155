"""The objects of a small Kubernetes API server, which behaves like the real one where the launcher
depends on it.

It keeps pods, services, secrets, config maps, events and applications of both operators; refuses
what a user may not do, names that exist, labels that are invalid and namespaces that are absent;
collects what a deleted object owned, at once instead of after some seconds; and records each call.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from base64 import b64decode
from binascii import Error as InvalidBase64
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]

CORE = ("pods", "services", "secrets", "configmaps", "events")
KUBEFLOW, APACHE = "sparkoperator.k8s.io", "spark.apache.org"
POLICIES = "iceberg-maintainer.io"
VERSIONS = {KUBEFLOW: "v1beta2", APACHE: "v1", POLICIES: "v1alpha1"}
ADMIN = "admin"
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


class RefusedError(Exception):
    """An answer that is not a success."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Call:
    """One request: who asked, and what it needs a permission for."""

    user: str
    verb: str
    group: str
    resource: str  # with its subresource: pods/log


@dataclass(frozen=True)
class Asked:
    """A request's parts."""

    call: Call
    namespace: str
    resource: str
    name: str
    subresource: str
    query: dict[str, str]


class ApiServer:
    """Its objects, its users' permissions, and its record of calls."""

    def __init__(self, namespaces: tuple[str, ...], groups: tuple[str, ...]) -> None:
        self.calls: list[Call] = []
        self.grants: dict[str, set[tuple[str, str, str]]] = {}  # user: verb, group, resource
        self.refuse_pods = ""  # an admission's message, such as of a quota
        self.failing = 0  # answers with this code instead of an answer
        self.delay: threading.Event | None = None  # answers once it is set
        self.changed = threading.Condition(threading.RLock())
        self.on_pod: Callable[[Document], None] | None = None  # a kubelet's
        self.on_deletion: Callable[[Document, int], bool] | None = None
        # by the pod's uid; each line with its time in nanoseconds
        self._logs: dict[str, list[tuple[int, bytes]]] = {}
        self.port = 0
        self._namespaces = namespaces
        self._groups = groups
        self._objects: dict[tuple[str, str, str, str], Document] = {}
        self._version = 0

    def kubeconfig(self, path: Path, user: str) -> Path:
        """Write the configuration of a user whose token is the user's name."""
        # Without TLS there is nothing to verify: the client need not load the system's authorities.
        server = {"server": f"http://127.0.0.1:{self.port}", "insecure-skip-tls-verify": True}
        context = {"cluster": "small", "user": user, "namespace": self._namespaces[0]}
        document: Document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "small", "cluster": server}],
            "users": [{"name": user, "user": {"token": user}}],
            "contexts": [{"name": "small", "context": context}],
            "current-context": "small",
        }
        path.write_text(yaml.safe_dump(document))
        return path

    def allow(self, user: str, role: Document) -> None:
        """Grant a Role's rules to a user."""
        granted = self.grants.setdefault(user, set())
        for rule in role["rules"]:
            granted.update(
                (verb, group, resource)
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
            )

    def get(self, resource: str, name: str, group: str = "") -> Document | None:
        """Return a copy of an object of the first namespace."""
        with self.changed:
            found = self._objects.get((group, resource, self._namespaces[0], name))
            return None if found is None else json.loads(json.dumps(found))

    def names(self, resource: str, group: str = "") -> list[str]:
        with self.changed:
            return sorted(key[3] for key in self._objects if key[:2] == (group, resource))

    def update(self, resource: str, name: str, patch: Document, group: str = "") -> None:
        """Merge a patch into an object, its status too; an absent one stays absent."""
        with self.changed:
            found = self._objects.get((group, resource, self._namespaces[0], name))
            if found is not None:
                _merge(found, patch)
                if "spec" in patch:
                    found["metadata"]["generation"] += 1
                self._touch(found)

    def log_of(self, uid: str) -> list[tuple[int, bytes]]:
        """The log of a pod's container, to be extended; with it the container has started."""
        with self.changed:
            return self._logs.setdefault(uid, [])

    def remove(self, resource: str, name: str, group: str = "") -> None:
        """Remove an object and all that it owns, without asking a kubelet."""
        with self.changed:
            self._collect((group, resource, self._namespaces[0], name))

    def create(self, resource: str, body: Document, group: str, namespace: str) -> None:
        """Create an object as an administrator does."""
        call = Call(ADMIN, "create", group, resource)
        self.answer(Asked(call, namespace, resource, "", "", {}), "POST", body)

    def delete(self, resource: str, name: str) -> None:
        """Delete an object of the first namespace as an administrator does."""
        call = Call(ADMIN, "delete", "", resource)
        self.answer(Asked(call, self._namespaces[0], resource, name, "", {}), "DELETE", {})

    def add_event(self, pod: str, reason: str, message: str, kind: str = "Warning") -> None:
        """Record an event about a pod."""
        event: Document = {
            "metadata": {"name": f"{pod}.{uuid.uuid4().hex[:12]}"},
            "involvedObject": {"kind": "Pod", "name": pod},
            "type": kind,
            "reason": reason,
            "message": message,
            "lastTimestamp": _now(),
        }
        with self.changed:
            self._store(("", "events", self._namespaces[0], event["metadata"]["name"]), event)

    def answer(self, asked: Asked, method: str, body: Any) -> tuple[int, object]:
        """Carry out a request; a RefusedError is its refusal."""
        with self.changed:
            self.calls.append(asked.call)
        if self.delay is not None:
            self.delay.wait()
        if self.failing:
            raise RefusedError(self.failing, "etcdserver: request timed out")
        if asked.resource == "selfsubjectaccessreviews":
            return 201, self._review(asked.call.user, body)
        self._authorize(asked)
        with self.changed:
            match method:
                case "POST":
                    return 201, self._create(asked, body)
                case "DELETE" if asked.name:
                    return 200, self._delete(asked)
                case "DELETE":
                    return 200, self._delete_all(asked)
                case "PATCH":
                    return 200, self._patch(asked, body)
                case _:
                    return 200, self._read(asked)

    def _read(self, asked: Asked) -> object:
        if asked.subresource == "log":
            return self._read_log(asked)
        if asked.name:
            return self._find(asked)
        if asked.query.get("watch"):
            return b""  # no changes for now; who watches asks again
        return self._list(asked)

    def _authorize(self, asked: Asked) -> None:
        call = asked.call
        if not self._is_allowed(call.user, call.verb, call.group, call.resource):
            message = (
                f'{asked.resource} is forbidden: User "{call.user}" cannot {call.verb} resource '
                f'"{call.resource}" in API group "{call.group}" in the namespace '
                f'"{asked.namespace}"'
            )
            raise RefusedError(403, message)

    def _is_allowed(self, user: str, verb: str, group: str, resource: str) -> bool:
        return user == ADMIN or (verb, group, resource) in self.grants.get(user, set())

    def _review(self, user: str, body: Document) -> Document:
        wanted = body["spec"]["resourceAttributes"]
        subresource = wanted.get("subresource")
        resource = wanted["resource"] + (f"/{subresource}" if subresource else "")
        allowed = self._is_allowed(user, wanted["verb"], wanted.get("group", ""), resource)
        return {**body, "status": {"allowed": allowed}}

    def knows(self, group: str, version: str, resource: str) -> bool:
        """Whether this API exists; without an operator its group does not."""
        if resource == "selfsubjectaccessreviews":
            return group == "authorization.k8s.io"
        if not group:
            return resource in CORE
        return group in self._groups and version == VERSIONS[group]

    def _create(self, asked: Asked, body: Document) -> Document:
        name = body.get("metadata", {}).get("name", "")
        if asked.namespace not in self._namespaces:
            raise RefusedError(404, f'namespaces "{asked.namespace}" not found')
        self._validate(asked, name, body)
        key = (asked.call.group, asked.resource, asked.namespace, name)
        if key in self._objects:
            raise RefusedError(409, f'{asked.resource} "{name}" already exists')
        if asked.resource == "pods" and self.refuse_pods:
            raise RefusedError(403, f'pods "{name}" is forbidden: {self.refuse_pods}')
        created = self._store(key, json.loads(json.dumps(body)))
        if asked.resource == "pods":
            _default_pod(created)
            if self.on_pod is not None:
                self.on_pod(json.loads(json.dumps(created)))
        answer = json.loads(json.dumps(created))
        owners = {each["uid"] for each in created["metadata"].get("ownerReferences", [])}
        if owners and not owners & self._uids():
            self._collect(key)
        return answer  # type: ignore[no-any-return]

    def _validate(self, asked: Asked, name: str, body: Document) -> None:
        kind = body.get("kind", "")
        pattern = _SERVICE_NAME if asked.resource == "services" else _SUBDOMAIN
        if not pattern.fullmatch(name):
            raise RefusedError(422, f'{kind} "{name}" is invalid: metadata.name: Invalid value')
        for label, value in (body["metadata"].get("labels") or {}).items():
            if not _LABEL.fullmatch(value):
                message = f'{kind} "{name}" is invalid: metadata.labels: {label}: Invalid value'
                raise RefusedError(422, message)
        if asked.resource == "secrets":
            for value in body.get("data", {}).values():
                try:
                    b64decode(value, validate=True)
                except InvalidBase64 as error:
                    raise RefusedError(400, f"illegal base64 data: {error}") from error

    def _store(self, key: tuple[str, str, str, str], document: Document) -> Document:
        document["metadata"] |= {
            "namespace": key[2],
            "uid": str(uuid.uuid4()),
            "generation": 1,
            "creationTimestamp": _now(),
        }
        self._objects[key] = document
        self._touch(document)
        return document

    def _touch(self, document: Document) -> None:
        self._version += 1
        document["metadata"]["resourceVersion"] = str(self._version)
        self.changed.notify_all()

    def _delete(self, asked: Asked) -> Document:
        found = self._find(asked)
        grace = int(
            asked.query.get("gracePeriodSeconds")
            or found.get("spec", {}).get("terminationGracePeriodSeconds", 0)
        )
        is_kubelets = (
            asked.resource == "pods"
            and self.on_deletion is not None
            and self.on_deletion(found, grace)
        )
        if is_kubelets:
            found["metadata"].setdefault("deletionTimestamp", _now())
            self._touch(found)
        else:
            self._collect((asked.call.group, asked.resource, asked.namespace, asked.name))
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}

    def _delete_all(self, asked: Asked) -> Document:
        for document in self._list(asked)["items"]:
            self._delete(replace(asked, name=document["metadata"]["name"]))
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}

    def _collect(self, key: tuple[str, str, str, str]) -> None:
        gone = self._objects.pop(key, None)
        if gone is None:
            return
        uid = gone["metadata"]["uid"]
        self._logs.pop(uid, None)
        owned = [
            each
            for each, document in self._objects.items()
            if uid in {one["uid"] for one in document["metadata"].get("ownerReferences", [])}
        ]
        for each in owned:
            self._collect(each)
        self.changed.notify_all()

    def _uids(self) -> set[str]:
        return {document["metadata"]["uid"] for document in self._objects.values()}

    def _patch(self, asked: Asked, body: Document | list[Document]) -> Document:
        found = self._find(asked)
        if isinstance(body, list):
            _apply(found, body)
            self._touch(found)
            return found
        kept = ("status",) if asked.subresource == "status" else tuple(set(body) - {"status"})
        _merge(found, {key: body[key] for key in kept if key in body})
        self._touch(found)
        return found

    def _find(self, asked: Asked) -> Document:
        key = (asked.call.group, asked.resource, asked.namespace, asked.name)
        if key not in self._objects:
            raise RefusedError(404, f'{asked.resource} "{asked.name}" not found')
        return self._objects[key]

    def _list(self, asked: Asked) -> Document:
        items = [
            document
            for key, document in sorted(self._objects.items())
            if key[:3] == (asked.call.group, asked.resource, asked.namespace)
            and _matches(document["metadata"].get("labels") or {}, asked.query, "labelSelector")
            and _matches(_fields(document), asked.query, "fieldSelector")
        ]
        return {"kind": "List", "metadata": {"resourceVersion": str(self._version)}, "items": items}

    def _read_log(self, asked: Asked) -> bytes:
        pod = self._find(asked)
        container = asked.query.get("container", "")
        names = [each["name"] for each in pod["spec"]["containers"]]
        if container not in names:
            message = f"container {container} is not valid for pod {asked.name}"
            raise RefusedError(400, message)
        log = self._logs.get(pod["metadata"]["uid"])
        if log is None:
            message = f'container "{container}" in pod "{asked.name}" is waiting to start'
            raise RefusedError(400, f"{message}: ContainerCreating")
        since = asked.query.get("sinceTime", "")
        lines = [
            f"{_stamp(at)} ".encode() + line + b"\n"
            for at, line in log
            if not since or _stamp(at)[:19] >= since[:19]
        ]
        tail = asked.query.get("tailLines")
        content = b"".join(lines[-int(tail) :] if tail else lines)
        limit = asked.query.get("limitBytes")
        return content[: int(limit)] if limit else content


def _default_pod(pod: Document) -> None:
    pod["spec"].setdefault("schedulerName", "default-scheduler")
    pod["spec"].setdefault("terminationGracePeriodSeconds", 30)
    pod["status"] = {"phase": "Pending", "qosClass": "Burstable"}


def _matches(values: dict[str, str], query: dict[str, str], selector: str) -> bool:
    wanted = [part.partition("=") for part in query.get(selector, "").split(",") if part]
    return all(
        (values.get(key.rstrip("!")) == value.lstrip("=")) is not key.endswith("!")
        for key, _, value in wanted
    )


def _fields(document: Document) -> dict[str, str]:
    fields = {"metadata.name": document["metadata"]["name"]}
    for key, value in document.get("involvedObject", {}).items():
        fields[f"involvedObject.{key}"] = value
    return fields


def _merge(document: Document, patch: Document) -> None:
    for key, value in patch.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        elif value is None:
            document.pop(key, None)
        else:
            document[key] = value


def _apply(document: Document, operations: list[Document]) -> None:
    """Carry out a JSON Patch that adds, replaces and removes."""
    for operation in operations:
        *path, last = (
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        )
        place = document
        for part in path:
            place = place.setdefault(part, {})
        if operation["op"] == "remove":
            place.pop(last, None)
        else:
            place[last] = operation["value"]


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _stamp(at: int) -> str:
    seconds, nanoseconds = divmod(at, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"
