"""The type and the address of a catalog for Spark."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

# typeshed does not have this function
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from maintainer.domain.errors import ConfigurationError

# A commit of another process locks the file for milliseconds, on a slow disk for seconds.
_SQLITE_BUSY_MILLISECONDS = 30_000
_POSTGRESQL_PARAMETERS = {
    "sslmode": "sslmode", "sslrootcert": "sslrootcert", "sslcert": "sslcert", "sslkey": "sslkey",
    "application_name": "ApplicationName", "connect_timeout": "connectTimeout",
}  # fmt: skip
# Error codes of a stopped or restarted server (admin_shutdown, crash_shutdown, cannot_connect_now).
# After these codes Iceberg opens another connection and repeats the query, as it does by default
# for a broken connection. Otherwise the job would fail.
_ENDED_BY_POSTGRESQL = "57P01,57P02,57P03"
_NEEDS_URI = frozenset({"sql", "rest", "hive", "nessie"})
_NEEDS_WAREHOUSE = frozenset({"sql", "hadoop", "nessie", "bigquery"})
_TYPES = {
    "dynamodb": {"catalog-impl": "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog"},
    "sql": {"type": "jdbc", "jdbc.schema-version": "V1"},
    # PyIceberg requests vended credentials by default; Iceberg's Java client needs this setting.
    "rest": {"type": "rest", "header.X-Iceberg-Access-Delegation": "vended-credentials"},
}


def address(
    name: str, kind: str, properties: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the catalog's type and address; ConfigurationError names what is missing."""
    uri = properties.get("uri", "")
    for needed, kinds in (("uri", _NEEDS_URI), ("warehouse", _NEEDS_WAREHOUSE)):
        if kind in kinds and not properties.get(needed):
            raise ConfigurationError(
                f"catalog {name}: property {needed} is missing; a {kind} catalog needs it"
            )
    found = _TYPES.get(kind, {"type": kind})
    match kind:
        case "sql":
            return found | _jdbc(name, uri)
        case "rest":
            return found | {"uri": uri} | _proxy(uri, environment)
        case _:
            return found | ({"uri": uri} if kind in _NEEDS_URI else {})


def _proxy(uri: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the proxy of the environment, which Java's client does not read by itself."""
    parts = urlsplit(uri)
    given = {name.lower(): value for name, value in environment.items() if value}
    text = given.get(f"{parts.scheme}_proxy") or given.get("all_proxy")
    if not text or proxy_bypass_environment(parts.netloc, {"no": given.get("no_proxy", "")}):
        return {}
    proxy = urlsplit(text if "://" in text else f"http://{text}")
    found = {
        "hostname": proxy.hostname,
        "port": str(proxy.port or {"http": 80, "https": 443}.get(proxy.scheme, 1080)),
        "username": unquote(proxy.username) if proxy.username else None,
        "password": unquote(proxy.password) if proxy.password else None,
    }
    return {f"rest.client.proxy.{key}": value for key, value in found.items() if value}


def _jdbc(name: str, uri: str) -> dict[str, str]:
    scheme = urlsplit(uri).scheme.partition("+")[0]
    match scheme:
        case "sqlite":
            return _sqlite(name, uri)
        case "postgresql":
            return _postgresql(name, uri)
        case _:
            raise ConfigurationError(
                f"catalog {name}: property uri has the scheme {scheme!r}; a sql catalog for "
                f"Spark is sqlite or postgresql"
            )


def _sqlite(name: str, uri: str) -> dict[str, str]:
    path = uri.partition(":")[2].removeprefix("///")
    if not path.startswith("/") or any(character in path for character in "?#"):
        raise ConfigurationError(
            f"catalog {name}: property uri is {uri!r}; for Spark it must be sqlite:/// with an "
            f"absolute path that contains neither ? nor #"
        )
    return {"uri": f"jdbc:sqlite:{path}", "jdbc.busy_timeout": str(_SQLITE_BUSY_MILLISECONDS)}


def _postgresql(name: str, uri: str) -> dict[str, str]:
    parts = urlsplit(uri)
    parameters: list[str] = []
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key not in _POSTGRESQL_PARAMETERS:
            raise ConfigurationError(
                f"catalog {name}: parameter {key!r} of property uri cannot be translated for "
                f"Spark; known are {', '.join(_POSTGRESQL_PARAMETERS)}"
            )
        parameters.append(f"{_POSTGRESQL_PARAMETERS[key]}={value}")
    host = parts.netloc.rpartition("@")[2]
    if not host:
        raise ConfigurationError(
            f"catalog {name}: property uri names no host; Spark reaches PostgreSQL by host and "
            f"port only"
        )
    address = {
        "uri": f"jdbc:postgresql://{host}{parts.path}"
        + ("?" + "&".join(parameters) if parameters else "")
    }
    secrets = {"jdbc.user": parts.username, "jdbc.password": parts.password}
    address["retryable_status_codes"] = _ENDED_BY_POSTGRESQL
    return address | {key: unquote(value) for key, value in secrets.items() if value is not None}
