"""Translates a catalog's PyIceberg properties into a Spark configuration for the same tables."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from re import compile as compile_regex
from urllib.parse import parse_qsl, unquote, urlsplit

# typeshed does not have this function
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from maintainer.adapters.spark.catalogs.properties import OSS, TYPES, Use, find_row
from maintainer.domain.errors import ConfigurationError

_SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_NAME = compile_regex(r"[A-Za-z_][A-Za-z0-9_-]*")
# Names that Spark uses for its own catalogs and its temporary views.
_RESERVED_NAMES = frozenset({"spark_catalog", "system", "session", "global_temp"})
_GIVEN = "given"  # the type of a catalog whose class or type is written under spark:
_GIVEN_ELSEWHERE = frozenset({"uri", "catalog-impl", "py-catalog-impl"})
_JAVA_TYPES = {"jdbc": "sql"}  # PyIceberg's name of a type, by Iceberg's name, if they differ
_TYPE_BY_SCHEME = {
    "http": "rest", "https": "rest", "thrift": "hive", "sqlite": "sql", "postgresql": "sql",
}  # fmt: skip
_RESOLVING = "org.apache.iceberg.io.ResolvingFileIO"
# For each FileIO, the schemes of warehouses and the properties that identify its storage.
_FILE_IO: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "org.apache.iceberg.aws.s3.S3FileIO": (("s3", "s3a", "s3n"), ("s3.",)),
    "org.apache.iceberg.gcp.gcs.GCSFileIO": (("gs",), ("gcs.",)),
    "org.apache.iceberg.azure.adlsv2.ADLSFileIO": (("abfs", "abfss", "wasb", "wasbs"), ("adls.",)),
    "org.apache.iceberg.aliyun.oss.OSSFileIO": ((OSS,), ("oss.",)),
}
_S3_FILE_IO = next(iter(_FILE_IO))
# The sets of jars that are needed besides Iceberg's runtime, by the beginning of a class name.
_JARS = {
    "org.apache.iceberg.aws.": "aws",
    "org.apache.iceberg.gcp.": "gcp",
    "org.apache.iceberg.azure.": "azure",
    "org.apache.iceberg.aliyun.": "aliyun",
}
_JARS_OF_TYPES = {"glue": "aws", "bigquery": "gcp"}
_JARS_OF_AUTHENTICATION = {"google": "gcp", "sigv4": "aws"}
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


def spark_configuration(
    name: str,
    properties: Mapping[str, str],
    spark_overrides: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Return Spark's settings for one catalog.

    ConfigurationError names each property without a counterpart. An override is a property of
    Iceberg's Java catalog, or a complete Spark setting if its name starts with ``spark.``. It
    replaces the property with its name; an empty value removes the property. The environment names
    the proxy.
    """
    if _NAME.fullmatch(name) is None or name in _RESERVED_NAMES:
        raise ConfigurationError(
            f"catalog name {name!r} cannot be a Spark catalog; use letters, digits, - and _, and "
            f"none of {', '.join(sorted(_RESERVED_NAMES))}"
        )
    left = {key: str(value) for key, value in properties.items() if key not in spark_overrides}
    kind = _kind(name, properties, spark_overrides)
    if kind == _GIVEN:  # all properties are written under spark:, with the class or the type
        place = {"uri": left["uri"]} if left.get("uri") else {}
    else:
        place = address(name, kind, {**properties, **spark_overrides}, environment)
    translated = (
        {"cache-enabled": "false"}
        | place
        | _translate(name, left, _tags(kind, properties, spark_overrides))
    )
    if "io-impl" not in spark_overrides:
        translated |= _file_io(kind, translated)
    prefix = f"spark.sql.catalog.{name}"
    chosen = translated | {key: str(value) for key, value in spark_overrides.items() if value != ""}
    return {prefix: _SPARK_CATALOG} | {
        key if key.startswith("spark.") else f"{prefix}.{key}": value
        for key, value in chosen.items()
    }


def needed_jars(settings: Mapping[str, str]) -> frozenset[str]:
    """Return the sets of jars that these settings (from spark_configuration) need."""
    found = {_JARS_OF_TYPES.get(value) for key, value in settings.items() if key.endswith(".type")}
    found |= {
        _JARS_OF_AUTHENTICATION.get(value)
        for key, value in settings.items()
        if key.endswith(".rest.auth.type")
    }
    found |= {"aws" for key in settings if key.endswith(".rest.sigv4-enabled")}
    chosen = {value for key, value in settings.items() if key.endswith(".io-impl")}
    # A configured FileIO reads all files. Without one, the properties show which storages are used.
    classes = {
        implementation
        for implementation, (_, beginnings) in _FILE_IO.items()
        if chosen <= {_RESOLVING}
        and any(key.startswith(beginnings) for key in map(_without_prefix, settings))
    }
    found |= {
        jars
        for value in (*settings.values(), *classes)
        for beginning, jars in _JARS.items()
        if value.startswith(beginning)
    }
    return frozenset(jars for jars in found if jars is not None)


def needed_databases(settings: Mapping[str, str]) -> frozenset[str]:
    """Return the names in the JDBC addresses of these settings (from spark_configuration)."""
    return frozenset(
        value.split(":")[1]
        for key, value in settings.items()
        if key.endswith(".uri") and value.startswith("jdbc:")
    )


def jars_of_location(location: str, settings: Mapping[str, str]) -> frozenset[str]:
    """Return the sets of jars for a table's storage; a REST catalog names it only with the table.

    Empty if these settings (from spark_configuration) name a FileIO.
    """
    chosen = [value for key, value in settings.items() if key.endswith(".io-impl")]
    is_rest_catalog = any(key.endswith(".type") and settings[key] == "rest" for key in settings)
    if chosen not in ([_RESOLVING], []) or not (chosen or is_rest_catalog):
        return frozenset()
    scheme = location.partition("://")[0].lower()
    classes = [name for name, (schemes, _) in _FILE_IO.items() if scheme in schemes]
    return needed_jars({"": classes[0]}) if classes else frozenset()


def _without_prefix(key: str) -> str:
    return key.removeprefix("spark.sql.catalog.").partition(".")[2]


def is_rest(properties: Mapping[str, str]) -> bool:
    """Return True if PyIceberg's properties describe a REST catalog."""
    return _configured_kind(properties) == "rest"


def trusted_bundles(properties: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the PEM bundles with the authorities that Spark must trust for this catalog."""
    tags = (_configured_kind(properties) or "",)
    return tuple(
        Path(value)
        for key, value in properties.items()
        if (row := find_row(key, tags)) is not None and row.use is Use.TRUSTED
    )


def _configured_kind(properties: Mapping[str, str]) -> str | None:
    scheme = urlsplit(properties.get("uri", "")).scheme.partition("+")[0]
    return properties.get("type") or _TYPE_BY_SCHEME.get(scheme)


def _kind(name: str, properties: Mapping[str, str], overrides: Mapping[str, str]) -> str:
    if not overrides.keys().isdisjoint({"type", "catalog-impl"}):
        return _GIVEN
    known = (
        f"known are the types {', '.join(TYPES)}; write the catalog's Java class or type under "
        f"spark:"
    )
    for key in ("catalog-impl", "py-catalog-impl"):
        if key in properties:
            raise ConfigurationError(
                f"catalog {name}: property {key} has no counterpart in Spark; {known}, as in "
                f"catalog-impl: com.example.OurCatalog"
            )
    kind = _configured_kind(properties)
    if kind not in TYPES:
        raise ConfigurationError(
            f"catalog {name}: property type {kind!r} cannot be translated for Spark; {known}, as "
            f"in type: hadoop"
        )
    return kind


def _tags(
    kind: str, properties: Mapping[str, str], overrides: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the tags that select among rows with the same name: the catalog's type, and OSS."""
    if kind == _GIVEN:
        given = overrides.get("type") or _configured_kind(properties) or ""
        kind = _JAVA_TYPES.get(given, given)
    warehouse = overrides.get("warehouse") or properties.get("warehouse", "")
    return (kind, OSS) if warehouse.startswith(f"{OSS}://") else (kind,)


def _translate(name: str, properties: Mapping[str, str], tags: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    unknown: list[str] = []
    for key, value in properties.items():
        if key in _GIVEN_ELSEWHERE:
            continue
        row = find_row(key, tags)
        if row is None:
            unknown.append(key)
        elif row.use is Use.MISSING:
            unknown.append(f"{key} ({row.note})")
        elif row.use is Use.PASSED:
            translated = row.translate(key, value)
            unknown += [f"{key}: {value}"] if translated is None else []
            found |= {key: text for key, text in (translated or {}).items() if key not in found}
    combined, lone = _combine(properties, found)
    unknown += lone
    if unknown:
        what = "property" if len(unknown) == 1 else "properties"
        raise ConfigurationError(
            f"catalog {name}: {what} {', '.join(unknown)} cannot be translated for Spark; under "
            f'spark:, write the name to pass it on, or the name with the value "" and the name '
            f"that Spark uses"
        )
    return found | combined


def _combine(
    properties: Mapping[str, str], found: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the settings that need several properties, and the properties that lack a partner."""
    made: dict[str, str] = {}
    lone: list[str] = []
    identity, secret = (properties.get(f"auth.oauth2.client_{part}") for part in ("id", "secret"))
    if identity and secret:
        made["credential"] = f"{identity}:{secret}"
    elif identity or secret:
        lone.append("auth.oauth2.client_id without auth.oauth2.client_secret, or the reverse")
    account, key, token = (
        properties.get(f"adls.{part}") for part in ("account-name", "account-key", "sas-token")
    )
    if account and key:
        made["adls.auth.shared-key.account.name"] = account
        made["adls.auth.shared-key.account.key"] = key
    if account and token:
        made[f"adls.sas-token.{account}.dfs.core.windows.net"] = token
    if (key or token) and not account:
        lone.append("adls.account-key or adls.sas-token without adls.account-name")
    if "client.assume-role.arn" in found:
        if "client.region" in found:
            made["client.assume-role.region"] = found["client.region"]
        else:
            lone.append("client.role-arn or s3.role-arn without s3.region")
    return made, lone


def _file_io(kind: str, translated: Mapping[str, str]) -> dict[str, str]:
    """Return the FileIO of the storage; for several storages, the FileIO that uses the scheme."""
    scheme = translated.get("warehouse", "").partition("://")[0].lower()
    found = [
        implementation
        for implementation, (schemes, beginnings) in _FILE_IO.items()
        if scheme in schemes or any(key.startswith(beginnings) for key in translated)
    ]
    if kind == "glue" and not found:
        found = [_S3_FILE_IO]
    if not found:
        return {}
    return {"io-impl": found[0] if len(found) == 1 else _RESOLVING}


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
