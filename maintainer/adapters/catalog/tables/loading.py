"""Loads a PyIceberg catalog that only reads, and that has a timeout for each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.utils.properties import property_as_bool
from sqlalchemy import URL, inspect, make_url
from sqlalchemy.exc import ArgumentError

from maintainer.adapters.catalog.faults import explain, secrets_of
from maintainer.adapters.extras import require_package
from maintainer.domain.errors import CatalogUnavailableError

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

CONNECT_TIMEOUT_SECONDS: Final = 10
READ_TIMEOUT_SECONDS: Final = 60
GLUE_MAX_RETRIES: Final = "glue.max-retries"
GLUE_RETRIES: Final = 3  # PyIceberg's ten retries take minutes
_CLASSES: Final[
    Mapping[str, str]
] = {  # this package's classes, by type or else by the URI's scheme
    "dynamodb": "maintainer.adapters.catalog.tables.dynamodb.ObservedDynamoDbCatalog",
    "hive": "maintainer.adapters.catalog.tables.hive.ThreadedHiveCatalog",
    "thrift": "maintainer.adapters.catalog.tables.hive.ThreadedHiveCatalog",
}
_REST: Final = "maintainer.adapters.catalog.tables.rest.BoundedRestCatalog"
_GLUE: Final = "maintainer.adapters.catalog.tables.glue.LocatingGlueCatalog"
# The package that a catalog needs, and the extra with this package; by type or scheme as above.
_PACKAGES: Final[Mapping[str, tuple[str, str]]] = {
    "dynamodb": ("boto3", "dynamodb"),
    "glue": ("boto3", "glue"),
    "hive": ("thrift", "hive"),
    "thrift": ("thrift", "hive"),
}
_SIGNED: Final = "rest.sigv4-enabled"
_NESTED: Final = ("ssl.", "auth.")
_READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "expires_in": int,
    "refresh_margin": int,
    "scopes": lambda text: text.split(","),
}
_TABLES_TABLE: Final = "iceberg_tables"


def open_catalog(name: str, properties: Mapping[str, str]) -> Catalog:
    """Connect to a catalog; CatalogUnavailableError in one line without secrets if that fails."""
    try:
        catalog = _open(name, {key: str(value) for key, value in properties.items()})
    except CatalogUnavailableError:
        raise
    except Exception as error:
        # The catalog's library raises many kinds of exceptions; all of them mean that the catalog
        # is unavailable.
        raise CatalogUnavailableError(
            f"catalog {name} cannot be reached: {explain(error, secrets_of(properties))}"
        ) from error
    if isinstance(catalog, SqlCatalog):
        _require_tables(name, catalog, properties)
    return catalog


def _open(name: str, properties: dict[str, str]) -> Catalog:
    timeouts = {
        "s3.connect-timeout": str(CONNECT_TIMEOUT_SECONDS),
        "s3.request-timeout": str(READ_TIMEOUT_SECONDS),
    }
    properties = {**timeouts, **properties}
    kind, uri = properties.get("type", "").lower(), properties.get("uri", "")
    if "py-catalog-impl" not in properties:
        _require_package(kind or uri.partition(":")[0], properties)
    if kind == "rest" or (
        not kind and uri.startswith("http") and "py-catalog-impl" not in properties
    ):
        properties.pop("type", None)
        bounded = {**properties, "py-catalog-impl": _REST}
        # The type of PyIceberg's argument has no nested values.
        return load_catalog(name, **cast("dict[str, str]", nest(bounded)))
    if kind == "glue":
        numbered = {
            **properties,
            GLUE_MAX_RETRIES: int(properties.get(GLUE_MAX_RETRIES, GLUE_RETRIES)),
        }  # AWS's library needs a number
        if "py-catalog-impl" not in numbered:
            numbered = {
                **{key: value for key, value in numbered.items() if key != "type"},
                "py-catalog-impl": _GLUE,
            }
        return load_catalog(name, **cast("dict[str, str]", numbered))
    if "py-catalog-impl" not in properties and (
        ours := _CLASSES.get(kind or uri.partition(":")[0])
    ):
        properties.pop("type", None)
        return load_catalog(name, **{**properties, "py-catalog-impl": ours})
    if kind in {"", "sql"} and "py-catalog-impl" not in properties:
        properties = _bound_sql(name, properties)
    return load_catalog(name, **properties)


def _require_package(kind: str, properties: Mapping[str, str]) -> None:
    """Check that the catalog's package is installed; PyIceberg does not name a missing package."""
    if kind in _PACKAGES:
        require_package(*_PACKAGES[kind], f"a catalog of type {kind}")
    elif property_as_bool(dict(properties), _SIGNED, default=False):
        require_package("boto3", "sigv4", _SIGNED)


def nest(properties: Mapping[str, str]) -> dict[str, object]:
    """Nest the properties of a REST catalog for TLS and authentication.

    PyIceberg needs `cabundle` inside `ssl`, not `ssl.cabundle`.
    """
    nested: dict[str, Any] = {
        name: text for name, text in properties.items() if not name.startswith(_NESTED)
    }
    for name in sorted(properties.keys() - nested.keys()):
        longer = next((other for other in properties if other.startswith(f"{name}.")), None)
        if longer is not None:
            raise ValueError(f"properties {name} and {longer} cannot both be set")
        *path, last = name.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
        place[last] = _READERS.get(last, str)(properties[name])
    return nested


def _bound_sql(name: str, properties: dict[str, str]) -> dict[str, str]:
    """Give a SQL catalog a timeout, and let it create no database file and no tables."""
    try:
        url = make_url(properties["uri"])
    except (ArgumentError, KeyError):
        return properties  # PyIceberg's message names the error
    if url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}:
        _require_file(name, url)
        return {"init_catalog_tables": "false", **properties}
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")  # the store uses the same driver
        if "connect_timeout" not in url.query:
            url = url.update_query_dict({"connect_timeout": str(CONNECT_TIMEOUT_SECONDS)})
        return {
            "init_catalog_tables": "false",
            **properties,
            "uri": url.render_as_string(hide_password=False),
        }
    return properties


def _require_file(name: str, url: URL) -> None:
    database = url.database or ""
    if not database.startswith("file:") and not Path(database).exists():
        raise CatalogUnavailableError(
            f"catalog {name} cannot be reached: the SQLite file {database} does not exist"
        )


def _require_tables(name: str, catalog: SqlCatalog, properties: Mapping[str, str]) -> None:
    try:
        present = inspect(catalog.engine).has_table(_TABLES_TABLE)
    except Exception as error:
        # As in open_catalog, drivers raise many kinds of exceptions.
        catalog.close()
        raise CatalogUnavailableError(
            f"catalog {name} cannot be reached: {explain(error, secrets_of(properties))}"
        ) from error
    if not present:
        catalog.close()
        raise CatalogUnavailableError(
            f"catalog {name} has no table {_TABLES_TABLE} in its database: nothing has created "
            f"an Iceberg catalog there"
        )


def is_rest(catalog: Catalog) -> TypeGuard[RestCatalog]:
    """Whether this is a REST catalog; the test does not import its libraries (0.1 s of CPU)."""
    return any(kind.__module__ == "pyiceberg.catalog.rest" for kind in type(catalog).__mro__)


def name_kind(catalog: Catalog) -> str:
    """Return PyIceberg's name for the kind of a catalog, also for classes of this package."""
    if is_rest(catalog):
        return "REST"
    theirs = next(
        (kind for kind in type(catalog).__mro__ if kind.__module__.startswith("pyiceberg.")),
        type(catalog),
    )
    return theirs.__name__.removesuffix("Catalog")
