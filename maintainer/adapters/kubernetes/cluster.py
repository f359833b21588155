"""The requests to the API server. Only this module knows the client library.

Every request has a timeout. A failure is a ClusterUnavailableError with a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import httpx2
import msgspec
from lightkube import ApiError, Client, ConfigError, KubeConfig, SingleConfig
from lightkube.generic_resource import (
    GenericGlobalResource,
    GenericNamespacedResource,
    create_api_info,
    create_namespaced_resource,
)
from lightkube.resources.core_v1 import PodLog
from lightkube.types import PatchType

from maintainer.adapters.kubernetes import Access
from maintainer.adapters.kubernetes.objects import POD, REVIEW, Kind, Manifest, part
from maintainer.domain.errors import ClusterUnavailableError

_PAGE = 500  # objects in one answer
_CONFLICT, _NOT_FOUND, _BAD_REQUEST = 409, 404, 400
_QUOTA = re.compile(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<requested>.+?), "
    r"used: (?P<used>.+?), limited: (?P<limit>.+)$"
)
_STANDARD = re.compile(r'violates PodSecurity "(?P<level>[^"]+)": (?P<why>.+)$')
_RIGHTS = re.compile(r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)"')
_NAMESPACE = re.compile(r'namespaces "[^"]+" not found')
_UNAUTHORIZED, _FORBIDDEN, _MISSING, _INVALID, _TOO_MANY = 401, 403, 404, 422, 429
_FIRST_SERVER_ERROR = 500


@cache
def _resource(kind: Kind) -> type[GenericNamespacedResource]:
    info = create_api_info(kind.group, kind.version, kind.name, kind.plural)
    return type(kind.name, (GenericNamespacedResource,), {"_api_info": info})


class _Review(GenericGlobalResource):
    _api_info = create_api_info(REVIEW.group, REVIEW.version, REVIEW.name, REVIEW.plural)


class Cluster:
    """One namespace of a cluster."""

    def __init__(self, access: Access) -> None:
        """Connect to the API server without a request."""
        self._namespace = access.namespace
        self._timeout = access.timeout_seconds
        self._client = Client(
            config=_configuration(access),
            namespace=access.namespace,
            timeout=httpx2.Timeout(access.timeout_seconds),
        )

    def create(self, kind: Kind, manifest: Manifest) -> Manifest | None:
        """Create the object and return it as stored; None if the name exists."""
        try:
            with self._in_words(kind):
                return dict(self._client.create(_resource(kind).from_dict(manifest)))
        except ApiError:
            return None

    def list(
        self,
        kind: Kind,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> list[Manifest]:
        """Return the objects with these labels and fields."""
        with self._in_words(kind):
            found = self._client.list(
                _resource(kind),
                labels=dict(labels) if labels else None,
                fields=dict(fields) if fields else None,
                chunk_size=_PAGE,
            )
            return [dict(each) for each in found]

    def write_status(self, kind: Kind, name: str, status: Manifest) -> None:
        """Merge fields into an object's status; the object may have been deleted.

        A field that is None is removed. Without a version there is no conflict.
        """
        resource = create_namespaced_resource(kind.group, kind.version, kind.name, kind.plural)
        with self._in_words(kind, is_absence_fine=True):
            self._client.patch(
                resource.Status, name, {"status": status}, patch_type=PatchType.MERGE
            )

    def delete(self, kind: Kind, name: str) -> None:
        """Request the deletion of an object and of all that it owns; it may have been deleted."""
        with self._in_words(kind, is_absence_fine=True):
            self._client.delete(_resource(kind), name)

    def log(self, pod: str, container: str, bounds: Mapping[str, str]) -> bytes | None:
        """Return the container's log within the API's limits; each line has its time.

        Empty while the container has not started, None without a pod.
        """
        parameters = {"container": container, "timestamps": "true", **bounds}
        # The library's log() has no sinceTime, and a relative time would compare two clocks.
        requests = self._client._client  # noqa: SLF001
        request = requests.build_adapter_request(
            requests.prepare_request("get", PodLog, name=pod, params=parameters)
        )
        with self._in_words(POD):
            answer = requests.send(request)
            if answer.status_code not in {_NOT_FOUND, _BAD_REQUEST}:
                requests.raise_for_status(answer)  # type: ignore[no-untyped-call]
        if answer.status_code == _NOT_FOUND:
            return None
        # The answer is "bad request" while the container waits for its start.
        return b"" if answer.status_code == _BAD_REQUEST else bytes(answer.content)

    def allows(self, verb: str, group: str, resource: str) -> bool:
        """Return whether the daemon has this right; a subresource is written as in pods/log."""
        plural, _, subresource = resource.partition("/")
        asked = {
            "namespace": self._namespace,
            "verb": verb,
            "group": group,
            "resource": plural,
            "subresource": subresource,
        }
        with self._in_words(REVIEW):
            answer = self._client.create(_Review.from_dict({"spec": {"resourceAttributes": asked}}))
        return part(answer, "status").get("allowed") is True

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _in_words(self, kind: Kind, *, is_absence_fine: bool = False) -> Iterator[None]:
        """Turn failures into sentences without addresses; a conflict stays an ApiError."""
        try:
            yield
        except ApiError as error:
            code = int(error.status.code or 0)
            if code == _NOT_FOUND and is_absence_fine:
                return
            if code == _CONFLICT:
                raise
            answer = error.status.message or ""
            raise ClusterUnavailableError(
                explain_refusal(code, answer, kind, self._namespace)
            ) from error
        except httpx2.TimeoutException as error:
            raise ClusterUnavailableError(
                f"the Kubernetes API server did not answer within {self._timeout:g} s"
            ) from error
        except httpx2.HTTPStatusError as error:  # a plain text, as for an API that does not exist
            code = error.response.status_code
            if code == _NOT_FOUND and is_absence_fine:
                return
            raise ClusterUnavailableError(
                explain_refusal(code, "no reason given", kind, self._namespace)
            ) from error
        except (KeyError, msgspec.MsgspecError) as error:
            raise ClusterUnavailableError(
                "the answer of the Kubernetes API server cannot be read"
            ) from error
        except (httpx2.HTTPError, OSError, ConfigError) as error:
            raise ClusterUnavailableError(
                f"the Kubernetes API server cannot be reached ({type(error).__name__})"
            ) from error


def _configuration(access: Access) -> SingleConfig:
    """Return the kubeconfig's context, or the service account of the daemon's own pod."""
    try:
        file = access.kubeconfig
        found = KubeConfig.from_env() if file is None else KubeConfig.from_file(file)
        chosen = found.get(access.context or None)
    except (ConfigError, KeyError, OSError, ValueError) as error:
        raise ClusterUnavailableError(
            f"there is no usable configuration for Kubernetes: {error}"
        ) from error
    if chosen is None or chosen.user is None:
        raise ClusterUnavailableError(
            "there is no usable configuration for Kubernetes: it names no user"
        )
    return chosen


def explain_refusal(code: int, message: str, kind: Kind, namespace: str) -> str:
    """Return one sentence for an answer of the API server that is not a success."""
    text = " ".join(message.split())
    if code == _UNAUTHORIZED:
        return "the Kubernetes API server does not accept the daemon's credentials"
    if code == _FORBIDDEN:
        return _explain_forbidden(text, namespace)
    if code == _MISSING and _NAMESPACE.search(text):
        return f"the namespace {namespace} does not exist"
    if code == _MISSING:
        return (
            f"the cluster has no {kind.name} of {kind.api_version}: is its {kind.origin} installed?"
        )
    if code == _INVALID:
        return f"the cluster finds the {kind.name} invalid: {text}"
    if code == _TOO_MANY:
        return "the Kubernetes API server asks for fewer requests"
    if code >= _FIRST_SERVER_ERROR:
        return f"the Kubernetes API server failed ({code}): {text}"
    return f"the Kubernetes API server refused ({code}): {text}"


def _explain_forbidden(text: str, namespace: str) -> str:
    if quota := _QUOTA.search(text):
        return (
            f"the quota {quota['name']} of the namespace {namespace} is used up: "
            f"requested {quota['requested']}, used {quota['used']}, limit {quota['limit']}"
        )
    if standard := _STANDARD.search(text):
        return (
            f"the namespace {namespace} refuses the pod by Pod Security "
            f'"{standard["level"]}": {standard["why"]}'
        )
    if rights := _RIGHTS.search(text):
        return (
            f"the daemon may not {rights['verb']} {rights['resource']} in the namespace "
            f"{namespace}: its Role does not allow it"
        )
    return f"the namespace {namespace} refuses it: {text}"
