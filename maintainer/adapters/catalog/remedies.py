"""Says how to repair an error because of which a catalog or its storage cannot be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from maintainer.adapters.catalog.limits import READABLE_SCHEMES
from maintainer.domain.inventory import FaultKind

_ALLOWED: Final = "(scan.locations)"  # contained in the error of check_location
_NOT_INSTALLED: Final = re.compile(r"install it with: |no module named", re.IGNORECASE)
_CLOCK: Final = re.compile(r"TimeTooSkewed|too.?skewed|request.{0,30}expired", re.IGNORECASE)
_REGION: Final = re.compile(
    r"AuthorizationHeaderMalformed|PermanentRedirect|TemporaryRedirect|region.{0,40}is wrong"
    r"|IllegalLocationConstraint|\b301\b|could not resolve region|incorrect region"
    r"|bucket of another region",
    re.IGNORECASE,
)
_TLS: Final = re.compile(
    r"no secure connection|certificate|UnknownIssuer|\bSSL\b|\bTLS\b|InvalidContentType",
    re.IGNORECASE,
)
_EXPIRED: Final = re.compile(r"expired.?token|token.{0,20}expired", re.IGNORECASE)
_UNKNOWN_KEY: Final = re.compile(
    r"InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|InvalidClientTokenId|invalid_client"
    r"|unauthorized|\b401\b|authentication failed|invalid_grant|AuthenticationFailed"
    r"|access key id you provided|signature we calculated|no.{0,20}credentials",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"access.?denied|forbidden|permission denied|\b403\b|AWS Error \[code 15\]|privileges",
    re.IGNORECASE,
)
_NO_BUCKET: Final = re.compile(
    r"no.?such.?bucket|bucket does not exist|ContainerNotFound|bucket.{0,60}not found",
    re.IGNORECASE,
)
_NO_SERVER: Final = re.compile(
    r"nothing listens|no address is known|cannot be reached \(no|took too long|connection to"
    r"|connection refused|dns error|tcp connect|error sending request|timed out|couldn't connect"
    r"|couldn't resolve|could not connect|did not answer|connection reset|network connection"
    r"|failed to resolve|curlCode",
    re.IGNORECASE,
)
_NO_DATABASE: Final = re.compile(r"SQLite file|has no table iceberg_tables", re.IGNORECASE)
_GONE: Final = re.compile(r"does not exist|no such file|not found|\b404\b", re.IGNORECASE)
_KEYS: Final[Mapping[str, str]] = {
    "s3": "s3.access-key-id and s3.secret-access-key, or the AWS_... variables",
    "gs": "gcs.oauth2.token, or GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "adls.account-name and adls.account-key, or adls.sas-token",
    "oss": "s3.access-key-id and s3.secret-access-key",
    "hdfs": "the daemon's user or its Kerberos ticket",
}
_RIGHTS: Final[Mapping[str, str]] = {
    "s3": "allow s3:GetObject on the files and s3:ListBucket on the bucket to these keys",
    "gs": "allow storage.objects.get and storage.objects.list to this account",
    "abfs": "give this account the role Storage Blob Data Reader",
    "file": "let the user of the daemon read the directory",
    "hdfs": "let the user of the daemon read the directory",
}
_ENDPOINTS: Final[Mapping[str, str]] = {
    "s3": "s3.endpoint", "gs": "gcs.service.host", "abfs": "adls.account-name",
    "hdfs": "the name node's host and port",
}  # fmt: skip
_FAMILIES: Final[Mapping[str, str]] = {
    "s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasb": "abfs", "wasbs": "abfs", "viewfs": "hdfs",
}  # fmt: skip


def advise(
    reason: str,
    properties: Mapping[str, str],
    kind: FaultKind | None = None,
    location: str = "",
) -> str:
    """Return what to do about a failure, beginning with a verb.

    `reason` is a sentence of explain(). `location` is the file or directory, or "" for the catalog
    itself.
    """
    if _ALLOWED in reason:
        return _advise_scheme(location)
    if _NOT_INSTALLED.search(reason):
        return "run that command in the daemon's Python environment"
    # A path may contain any word of the patterns.
    words = reason.replace(location, "") if location else reason
    keys, server = _keys(location, properties), _server(location)
    remedies = {
        _NO_DATABASE: "check uri; or create the first table, which makes the catalog",
        _CLOCK: "set this machine's clock, for example with NTP",
        _REGION: "set s3.region to the region of the bucket, and s3.endpoint to its server",
        _EXPIRED: f"give keys that have not expired: {keys}",
        _UNKNOWN_KEY: f"check the keys: {keys}",
        _TLS: _advise_tls(location, properties),
        _NO_BUCKET: f"check the bucket's name in the table's location, and {server}",
        _DENIED: _advise_rights(location),
        _NO_SERVER: f"check {server}, that the server runs, and that a firewall or proxy lets the "
        f"daemon through",
    }
    for pattern, remedy in remedies.items():
        if pattern.search(words):
            return remedy
    return _advise_file(words, kind, location)


def _advise_file(reason: str, kind: FaultKind | None, location: str) -> str:
    if kind is FaultKind.METADATA_MISSING or (location and _GONE.search(reason)):
        return (
            "restore the file, or register the table with an older metadata file; if the directory "
            "has another name for this process, write both names under locations:"
        )
    if kind is FaultKind.UNSUPPORTED:
        return "do nothing, if the table needs no maintenance; else see the catalog's recipe"
    if location:
        return (
            "restore the damaged file from a copy, or set the table back to a snapshot that "
            "does not use it"
        )
    return "check the catalog's properties against its recipe in docs/catalogs.md"


def _advise_scheme(location: str) -> str:
    scheme = "file" if location.startswith("/") else location.partition(":")[0].lower()
    directory = f"{scheme}://{location.partition('://')[2].partition('/')[0]}/"
    if scheme in READABLE_SCHEMES:
        narrower = directory.rstrip("/")
        either = f"{scheme} or {narrower}" if not narrower.endswith(":") else scheme
        return f"add {either} to scan.locations"
    return (
        f"if the storage has another name for this process, translate the name in the catalog's "
        f'settings: locations: {{"{directory}": "s3://BUCKET/"}}'
    )


def _advise_tls(location: str, properties: Mapping[str, str]) -> str:
    if location:
        return (
            f"add the authority of the server's certificate to those of this machine, and check "
            f"that {_server(location)} is right to begin with https"
        )
    if "ssl.cabundle" in properties:
        return "put the authority of the server's certificate into the file of ssl.cabundle"
    return "set ssl.cabundle to the PEM file of the authority of the server's certificate"


def _advise_rights(location: str) -> str:
    if not location:
        return "allow the daemon's account to list namespaces and to list and load tables"
    return _RIGHTS.get(_family(location), "allow the daemon's account to read and list there")


def _keys(location: str, properties: Mapping[str, str]) -> str:
    if location:
        return _KEYS.get(_family(location), "those of the storage")
    named = [name for name in ("credential", "token", "oauth2-server-uri") if name in properties]
    return " and ".join(named) or "the account in uri, credential or token"


def _server(location: str) -> str:
    return _ENDPOINTS.get(_family(location), "the storage's server") if location else "uri"


def _family(location: str) -> str:
    scheme = "file" if location.startswith("/") else location.partition(":")[0].lower()
    return _FAMILIES.get(scheme, scheme)
