"""Translates a catalog's PyIceberg properties into a Spark configuration for the same tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from re import compile as compile_regex
from urllib.parse import parse_qsl, unquote, urlsplit

from maintainer.domain.errors import ConfigurationError

_S3_FILE_IO = "org.apache.iceberg.aws.s3.S3FileIO"
_AWS_CLASSES = "org.apache.iceberg.aws."
_SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_NAME = compile_regex(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED_NAMES = frozenset(
    {"spark_catalog", "system", "session", "global_temp"}
)  # Spark's own catalogs and its temporary views
_SQLITE_BUSY_MILLISECONDS = (
    30_000  # another process's commit locks the file for milliseconds, a slow disk for seconds
)

# Properties for the Python process alone, without a counterpart in Spark.
_PYTHON_ONLY = frozenset(
    {
        "type", "py-io-impl", "echo", "pool_pre_ping", "init_catalog_tables",
        "downcast-ns-timestamp-to-us-on-write", "hive.hive2-compatible",
        "s3.connect-timeout", "s3.request-timeout", "s3.resolve-region", "s3.retry-strategy-impl",
        "rest-page-size", "snapshot-loading-mode",
    }
)  # fmt: skip

# PyIceberg and Iceberg's Java library spell these alike.
_SAME_IN_SPARK = frozenset(
    {
        "warehouse", "prefix", "client.region", "s3.endpoint", "s3.access-key-id",
        "s3.secret-access-key", "s3.session-token", "s3.path-style-access",
        "client.access-key-id", "client.secret-access-key", "client.session-token",
    }
)  # fmt: skip
_SAME_BY_TYPE = {
    "rest": frozenset((
        "credential", "token", "oauth2-server-uri", "scope", "audience", "resource",
        "rest.sigv4-enabled", "rest.signing-region", "rest.signing-name",
    )),
    "glue": frozenset({"glue.id", "glue.endpoint", "glue.skip-archive"}),
    "sql": frozenset[str](),
    "hive": frozenset[str](),
}  # fmt: skip
_GIVEN = "given"  # under spark:
_GIVES_KIND = frozenset({"type", "catalog-impl"})
_GIVEN_ELSEWHERE = frozenset({"uri", "catalog-impl", "py-catalog-impl"})
_JAVA_OF_TYPE = {
    "bigquery": "catalog-impl: org.apache.iceberg.gcp.bigquery.BigQueryMetastoreCatalog",
    "dynamodb": "catalog-impl: org.apache.iceberg.aws.dynamodb.DynamoDbCatalog",
    "hadoop": "type: hadoop",
}
_RENAMED = {"s3.region": "client.region", "glue.region": "client.region"}
_POSTGRESQL_PARAMETERS = {
    "sslmode": "sslmode", "sslrootcert": "sslrootcert", "sslcert": "sslcert", "sslkey": "sslkey",
    "application_name": "ApplicationName", "connect_timeout": "connectTimeout",
}  # fmt: skip
# Error codes of a stopped or restarted server (admin_shutdown, crash_shutdown, cannot_connect_now).
# Iceberg then opens another connection and repeats the query, as it does by default for a broken
# connection. Otherwise each job that meets one would fail.
_ENDED_BY_POSTGRESQL = "57P01,57P02,57P03"
_TYPE_BY_SCHEME = {
    "http": "rest",
    "https": "rest",
    "thrift": "hive",
    "sqlite": "sql",
    "postgresql": "sql",
}


def spark_configuration(
    name: str, properties: Mapping[str, str], spark_overrides: Mapping[str, str]
) -> dict[str, str]:
    """Return Spark's settings for one catalog.

    ConfigurationError names a property without a counterpart. An override is a property of
    Iceberg's Java catalog, or a whole Spark setting if it starts with ``spark.``. It replaces the
    property of its name; an empty value removes the property.
    """
    if _NAME.fullmatch(name) is None or name in _RESERVED_NAMES:
        message = (
            f"catalog name {name!r} cannot be a Spark catalog; use letters, digits, - and _, and "
            f"none of {', '.join(sorted(_RESERVED_NAMES))}"
        )
        raise ConfigurationError(message)
    # A setting that names the Java class or type comes with all its properties; the rest is passed
    # on if it can be translated.
    kind = _GIVEN if _GIVES_KIND & spark_overrides.keys() else _kind(name, properties)
    translated = {"cache-enabled": "false"} | _place(name, kind, properties)
    unknown: list[str] = []
    for key, value in properties.items():
        if key not in spark_overrides and key not in _GIVEN_ELSEWHERE:
            found = _translate(kind, key, str(value))
            unknown += [key] if found is None else []
            translated |= found or {}
    if unknown:
        message = f"catalog {name}: {_name_unknown(unknown)}"
        raise ConfigurationError(message)
    if "io-impl" not in spark_overrides and _uses_s3(kind, translated):
        translated["io-impl"] = _S3_FILE_IO
    prefix = f"spark.sql.catalog.{name}"
    chosen = translated | {key: str(value) for key, value in spark_overrides.items() if value != ""}
    return {prefix: _SPARK_CATALOG} | {
        key if key.startswith("spark.") else f"{prefix}.{key}": value
        for key, value in chosen.items()
    }


def needs_s3(settings: Mapping[str, str]) -> bool:
    """Return True if these settings (from spark_configuration) need Iceberg's classes for AWS."""
    return any(
        value.startswith(_AWS_CLASSES) or _signs_for_aws(key, value)
        for key, value in settings.items()
    )


def _signs_for_aws(key: str, value: str) -> bool:
    return (key.endswith(".type") and value == "glue") or key.endswith(".rest.sigv4-enabled")


def is_rest(properties: Mapping[str, str]) -> bool:
    """Return True if PyIceberg's properties describe a REST catalog."""
    return _configured_kind(properties) == "rest"


def _configured_kind(properties: Mapping[str, str]) -> str | None:
    scheme = urlsplit(properties.get("uri", "")).scheme.partition("+")[0]
    return properties.get("type") or _TYPE_BY_SCHEME.get(scheme)


def _kind(name: str, properties: Mapping[str, str]) -> str:
    known = (
        f"known are the types {', '.join(sorted(_SAME_BY_TYPE))}; write the catalog's Java class "
        f"or type under spark:"
    )
    for key in ("catalog-impl", "py-catalog-impl"):
        if key in properties:
            message = (
                f"catalog {name}: property {key} has no counterpart in Spark; {known}, as in "
                f"catalog-impl: com.example.OurCatalog"
            )
            raise ConfigurationError(message)
    kind = _configured_kind(properties)
    if kind not in _SAME_BY_TYPE:
        message = (
            f"catalog {name}: property type {kind!r} cannot be translated for Spark; {known}, as "
            f"in {_JAVA_OF_TYPE.get(kind or '', 'type: hadoop')}"
        )
        raise ConfigurationError(message)
    return kind


def _place(name: str, kind: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return the catalog's type and address."""
    uri = properties.get("uri", "")
    if kind == _GIVEN:
        return {"uri": uri} if uri else {}
    if kind == "glue":
        return {"type": "glue"}
    if not uri:
        message = f"catalog {name}: property uri is missing; a {kind} catalog needs it"
        raise ConfigurationError(message)
    match kind:
        case "sql":
            if not properties.get("warehouse"):
                message = f"catalog {name}: property warehouse is missing; a sql catalog needs it"
                raise ConfigurationError(message)
            return {"type": "jdbc", "jdbc.schema-version": "V1"} | _jdbc(name, uri)
        # PyIceberg requests vended credentials by default; Iceberg's Java client needs the setting
        case "rest":
            return {
                "type": "rest",
                "uri": uri,
                "header.X-Iceberg-Access-Delegation": "vended-credentials",
            }
        case _:
            return {"type": kind, "uri": uri}


def _jdbc(name: str, uri: str) -> dict[str, str]:
    scheme = urlsplit(uri).scheme.partition("+")[0]
    match scheme:
        case "sqlite":
            return _sqlite(name, uri)
        case "postgresql":
            return _postgresql(name, uri)
        case _:
            message = (
                f"catalog {name}: property uri has the scheme {scheme!r}; a sql catalog for "
                f"Spark is sqlite or postgresql"
            )
            raise ConfigurationError(message)


def _sqlite(name: str, uri: str) -> dict[str, str]:
    path = uri.partition(":")[2].removeprefix("///")
    if not path.startswith("/") or any(character in path for character in "?#"):
        message = (
            f"catalog {name}: property uri is {uri!r}; for Spark it must be sqlite:/// with an "
            f"absolute path that holds neither ? nor #"
        )
        raise ConfigurationError(message)
    return {"uri": f"jdbc:sqlite:{path}", "jdbc.busy_timeout": str(_SQLITE_BUSY_MILLISECONDS)}


def _postgresql(name: str, uri: str) -> dict[str, str]:
    parts = urlsplit(uri)
    parameters: list[str] = []
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key not in _POSTGRESQL_PARAMETERS:
            message = (
                f"catalog {name}: parameter {key!r} of property uri cannot be translated for "
                f"Spark; known are {', '.join(_POSTGRESQL_PARAMETERS)}"
            )
            raise ConfigurationError(message)
        parameters.append(f"{_POSTGRESQL_PARAMETERS[key]}={value}")
    host = parts.netloc.rpartition("@")[2]
    if not host:
        message = (
            f"catalog {name}: property uri names no host; Spark reaches PostgreSQL by host and "
            f"port only"
        )
        raise ConfigurationError(message)
    address = {
        "uri": f"jdbc:postgresql://{host}{parts.path}"
        + ("?" + "&".join(parameters) if parameters else "")
    }
    secrets = {"jdbc.user": parts.username, "jdbc.password": parts.password}
    address["retryable_status_codes"] = _ENDED_BY_POSTGRESQL
    return address | {key: unquote(value) for key, value in secrets.items() if value is not None}


def _name_unknown(keys: Sequence[str]) -> str:
    if len(keys) == 1:
        return (
            f"property {keys[0]} cannot be translated for Spark; under spark:, write {keys[0]} "
            f'to pass it on, or {keys[0]}: "" and what Spark calls it'
        )
    return (
        f"properties {', '.join(keys)} cannot be translated for Spark; under spark:, write each "
        f'to pass it on, or with the value "" and what Spark calls it'
    )


def _translate(kind: str, key: str, value: str) -> dict[str, str] | None:
    """Translate one property: {} if Spark does not need it, None if it cannot be translated."""
    if key in _PYTHON_ONLY:
        return {}
    if (
        key in _SAME_IN_SPARK
        or key in _SAME_BY_TYPE.get(kind, ())
        or (kind == "rest" and key.startswith("header."))
    ):
        return {key: value}
    if key.startswith("hadoop."):  # for example the name nodes of a name service
        return {f"spark.{key}": value}
    if key in _RENAMED:
        return {_RENAMED[key]: value}
    if key == "s3.force-virtual-addressing":
        return {"s3.path-style-access": "false" if value.lower() == "true" else "true"}
    return None


def _uses_s3(kind: str, translated: Mapping[str, str]) -> bool:
    warehouse = translated.get("warehouse", "")
    return (
        kind == "glue"
        or warehouse.startswith(("s3://", "s3a://", "s3n://"))
        or any(key.startswith("s3.") for key in translated)
    )
