"""Settings of the watched catalogs: their connections and their storage."""

from __future__ import annotations

from datetime import timedelta
from re import compile as compile_regex
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.validation import (
    DurationBetween,
    SizeBetween,
    Strict,
    refuse,
)

_DIRECTORY = compile_regex(r"[A-Za-z][A-Za-z0-9+.-]*://\S*/")
_CATALOG_NAME = compile_regex(r"[A-Za-z][A-Za-z0-9_-]{0,99}")


CATALOG_NAMES = "a name is 1 to 100 letters, digits, - and _, a letter first"


def is_catalog_name(name: str) -> bool:
    """True if the name fits into a table's name and into the name of a variable."""
    return _CATALOG_NAME.fullmatch(name) is not None


def check_catalogs(value: object) -> object:
    """Accept at least one catalog, with names that fit into a table's name and a variable."""
    for name in value if isinstance(value, dict) else ():
        if not is_catalog_name(name):
            refuse(f"has a catalog {name!r}; {CATALOG_NAMES}")
    if value == {}:
        refuse("is empty; name at least one catalog")
    return value


def _check_locations(value: object) -> object:
    """Accept pairs of directories; no target may itself be renamed."""
    pairs = value if isinstance(value, dict) else {}
    for text in (*pairs, *pairs.values()):
        if _DIRECTORY.fullmatch(str(text)) is None:
            refuse(f"has {text!r}; a location is SCHEME://.../ with a slash at its end")
    for target in pairs.values():
        source = next((source for source in pairs if str(target).startswith(source)), None)
        if source is not None:
            refuse(f"has the target {target}, which lies in {source}, another name")
    return value


_Price = Annotated[float, Field(ge=0, le=1_000_000)]


class StorageSettings(Strict):
    """The prices and the speed of the storage, from which the cost of small files is estimated.

    These apply to all catalogs; `catalogs.<name>.storage` has the same keys for one catalog, and
    overrides them one by one. Prices are in your own currency.
    """

    profile: Literal["object_store", "hdfs", "ozone"] | None = Field(
        default=None, description="The kind of storage. Default: decided by each table's location."
    )
    get_price_per_million: _Price | None = Field(
        default=None,
        description="The price of a million GET requests. Default: the cost of reads is not shown.",
    )
    put_price_per_million: _Price | None = Field(
        default=None,
        description="The price of a million PUT requests. Default: the cost of writes is not "
        "shown.",
    )
    list_price_per_million: _Price | None = Field(
        default=None,
        description="The price of a million LIST requests. Default: the cost of listings is not "
        "shown.",
    )
    price_per_gb_month: _Price | None = Field(
        default=None,
        description="The price of 10^9 bytes for a month. Default: the cost of storage is not "
        "shown.",
    )
    round_trip: Annotated[timedelta, DurationBetween("0s", "1m")] | None = Field(
        default=None,
        description="The time of one request. Default: 6.6ms for an object store, 1ms for Ozone, "
        "0.5ms for HDFS.",
    )
    bandwidth: Annotated[int, SizeBetween("1KiB", "1024TiB")] | None = Field(
        default=None,
        description="Bytes that a full read of a table reads in a second. Default: 112MB.",
    )
    parallelism: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="Requests at the same time. Default: 1."
    )


class CatalogSettings(Strict):
    """PyIceberg's own properties, unchanged, and what they do not imply for Spark and storage."""

    properties: dict[str, str] = Field(repr=False)
    spark: dict[str, str] = Field(
        default_factory=dict,
        repr=False,
        description="Properties for Spark only, by Spark's own names.",
    )
    locations: Annotated[dict[str, str], BeforeValidator(_check_locations)] = Field(
        default_factory=dict,
        description="Directories that have another address for Spark: Spark's address, and the "
        "one that the daemon reads.",
    )
    storage: StorageSettings = StorageSettings()

    @model_validator(mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {
            "properties": {
                name: text for name, text in value.items() if name not in BESIDE_PROPERTIES
            },
            **{name: value[name] for name in BESIDE_PROPERTIES if name in value},
        }


# The keys of a catalog that are not properties of PyIceberg.
BESIDE_PROPERTIES = frozenset(CatalogSettings.model_fields) - {"properties"}
