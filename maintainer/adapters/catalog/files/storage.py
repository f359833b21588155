"""Opens object stores with obstore from PyIceberg's properties, for many requests at the same time.

If the properties of a location cannot be translated, PyIceberg's FileIO reads the location. It
supports more storages and more kinds of authentication.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import Any, Final

from obstore.store import AzureStore, GCSStore, LocalStore, ObjectStore, S3Store
from pyiceberg.utils.properties import property_as_bool

from maintainer.adapters.catalog.tables.loading import CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS

MAX_STORES: Final = 128  # stores with open connections; with vended credentials, one for each table
MAX_RETRIES: Final = 2
# Paths are refused if obstore would change a segment, or if they contain escapes.
_PLAIN_PATH: Final = re.compile(
    r"(?:(?!\.{1,2}(?:/|$))[^/%\\#?\x00-\x1f\x7f]+/)*(?!\.{1,2}$)[^/%\\#?\x00-\x1f\x7f]+"
)
# Properties for authentication, encryption and routing that obstore has not under these names.
_UNTRANSLATED: Final = re.compile(
    r"py-io-impl$|[a-z0-9]+\.profile-name$|[a-z0-9]+\.role-arn$"
    r"|s3\.signer|s3\.sse\.|s3\.retry-strategy-impl$|s3\.resolve-region$"
    r"|adls\.(connection-string|credential|account-host|anon|[a-z]+-storage-)"
    r"|gcs\.(requester-pays|access)$"
)
_ENVIRONMENT_OF_AWS: Final = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_S3_NAMES: Final = {
    "endpoint": ("s3.endpoint",),
    "access_key_id": ("s3.access-key-id", "client.access-key-id"),
    "secret_access_key": ("s3.secret-access-key", "client.secret-access-key"),
    "session_token": ("s3.session-token", "client.session-token"),
    "region": ("s3.region", "client.region"),
}
_AZURE_NAMES: Final = {
    "account_key": ("adls.account-key",),
    "client_id": ("adls.client-id",),
    "client_secret": ("adls.client-secret",),
    "tenant_id": ("adls.tenant-id",),
    "token": ("adls.token",),
}

_Config = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bucket:
    """The configuration of a store; equal for the same bucket with the same credentials."""

    kind: str
    root: str
    config: tuple[tuple[str, Any], ...] = field(default=(), repr=False)  # contains secrets
    client: tuple[tuple[str, Any], ...] = ()

    def open(self) -> ObjectStore:
        """Create the store without connecting; obstore's exceptions for a bad configuration."""
        config: _Config = dict(self.config)
        waiting: Any = {
            "client_options": dict(self.client),
            "retry_config": {
                "max_retries": MAX_RETRIES,
                "retry_timeout": timedelta(seconds=READ_TIMEOUT_SECONDS),
            },
        }
        match self.kind:
            case "s3":
                return S3Store(self.root, **config, **waiting)
            case "gs":
                return GCSStore(self.root, **config, **waiting)
            case "abfs":
                return AzureStore(self.root, **config, **waiting)
            case _:
                return LocalStore(self.root)


class Storages:
    """The open stores; if there are too many, the least recently used store is closed."""

    def __init__(self, locations: Sequence[str] = ()) -> None:
        self.locations = locations  # allowed locations of metadata, in the form of check_location
        self._lock = Lock()
        self._open: OrderedDict[Bucket, ObjectStore] = OrderedDict()

    def find(self, location: str, properties: Mapping[str, str]) -> tuple[ObjectStore, str] | None:
        """Return a location's store and its path there; None if only PyIceberg can read it."""
        found = translate(location, properties)
        if found is None:
            return None
        bucket, path = found
        with self._lock:
            store = self._open.get(bucket)
            if store is None:
                store = self._open[bucket] = bucket.open()
                if len(self._open) > MAX_STORES:
                    self._open.popitem(last=False)
            self._open.move_to_end(bucket)
        return store, path

    def clear(self) -> None:
        """Close all connections."""
        with self._lock:
            self._open.clear()


def translate(
    location: str, properties: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> tuple[Bucket, str] | None:
    """Translate a location and PyIceberg's properties for obstore; None if that is impossible."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        scheme, rest = "file", location.removeprefix("file:")
    translator = _TRANSLATORS.get(scheme)
    if translator is None or any(_UNTRANSLATED.match(name) for name in properties):
        return None
    authority, _, path = rest.partition("/")
    found = translator(authority, _Properties(properties, environment))
    return (found, path) if found is not None and _PLAIN_PATH.fullmatch(path) else None


@dataclass(frozen=True, slots=True)
class _Properties:
    values: Mapping[str, str]
    environment: Mapping[str, str]

    def pick(self, names: Mapping[str, tuple[str, ...]]) -> _Config:
        """Return the first PyIceberg property that is set, for each of obstore's names."""
        found = {
            ours: next((self.values[name] for name in theirs if self.values.get(name)), None)
            for ours, theirs in names.items()
        }
        return {name: value for name, value in found.items() if value is not None}

    def is_set(self, name: str) -> bool:
        return property_as_bool(dict(self.values), name, default=False)

    def has_any(self, *variables: str) -> bool:
        return any(self.environment.get(variable) for variable in variables)


def _make(kind: str, root: str, config: _Config, client: _Config | None = None) -> Bucket:
    timeouts = {
        "connect_timeout": timedelta(seconds=CONNECT_TIMEOUT_SECONDS),
        "timeout": timedelta(seconds=READ_TIMEOUT_SECONDS),
    }
    return Bucket(
        kind,
        root,
        tuple(sorted(config.items())),
        tuple(sorted({**timeouts, **(client or {})}.items())),
    )


def _translate_s3(bucket: str, properties: _Properties) -> Bucket | None:
    config = properties.pick(_S3_NAMES)
    endpoint = config.get("endpoint", "")
    if properties.is_set("s3.remote-signing-enabled"):
        return None
    if properties.is_set("s3.anonymous"):
        config["skip_signature"] = True
    elif "access_key_id" not in config and (
        properties.has_any("AWS_PROFILE") or not properties.has_any(*_ENVIRONMENT_OF_AWS)
    ):
        return None  # only PyIceberg's FileIO finds a profile or an instance role
    if (
        "region" not in config
        and not endpoint
        and not properties.has_any("AWS_REGION", "AWS_DEFAULT_REGION")
    ):
        return None  # PyIceberg's FileIO asks the bucket for its region
    if properties.is_set("s3.force-virtual-addressing"):
        config["virtual_hosted_style_request"] = True
        if endpoint:
            scheme, _, host = endpoint.partition("://")
            config["endpoint"] = f"{scheme}://{bucket}.{host}"
    client: _Config = {"allow_http": True} if endpoint.startswith("http://") else {}
    for ours, theirs in (
        ("connect_timeout", "s3.connect-timeout"),
        ("timeout", "s3.request-timeout"),
    ):
        with_seconds = properties.values.get(theirs)
        if with_seconds:
            client[ours] = timedelta(seconds=float(with_seconds))
    if properties.values.get("s3.proxy-uri"):
        client["proxy_url"] = properties.values["s3.proxy-uri"]
    return _make("s3", bucket, config, client)


def _translate_gcs(bucket: str, properties: _Properties) -> Bucket | None:
    config = properties.pick(
        {"bearer_token": ("gcs.oauth2.token",), "base_url": ("gcs.service.host",)}
    )
    if "bearer_token" not in config and not properties.has_any("GOOGLE_APPLICATION_CREDENTIALS"):
        return None
    return _make(
        "gs",
        bucket,
        config,
        {"allow_http": True} if config.get("base_url", "").startswith("http://") else None,
    )


def _translate_azure(authority: str, properties: _Properties) -> Bucket | None:
    container, _, host = authority.partition("@")
    account = properties.values.get("adls.account-name") or host.partition(".")[0]
    config = properties.pick(_AZURE_NAMES)
    # The name of a vended token contains the account, with or without the host.
    token = next(
        (
            properties.values[name]
            for name in ("adls.sas-token", f"adls.sas-token.{host}", f"adls.sas-token.{account}")
            if properties.values.get(name)
        ),
        "",
    )
    if token:
        config["sas_key"] = token.removeprefix("?")
    if not container or not account or not config:
        return None
    return _make("abfs", container, {**config, "account_name": account})


def _translate_file(authority: str, _properties: _Properties) -> Bucket | None:
    return Bucket("file", "/") if authority in {"", "localhost"} else None


_TRANSLATORS: Final[Mapping[str, Callable[[str, _Properties], Bucket | None]]] = {
    "s3": _translate_s3,
    "s3a": _translate_s3,
    "s3n": _translate_s3,
    "gs": _translate_gcs,
    "abfs": _translate_azure,
    "abfss": _translate_azure,
    "file": _translate_file,
}
